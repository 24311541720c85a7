#include "moves.h"
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void done(infc_moves *moves, infc_move move) {
    INFC_GROW(moves->arena, moves->done, moves->n, moves->cap);
    moves->done[moves->n++] = move;
}

static const char *kept_name(infc_moves *moves) {
    return infc_arena_printf(moves->arena, "%s/.kept-%zu", moves->kept_dir, moves->n);
}

static bool is_disk(int error) { return error == ENOSPC || error == EDQUOT || error == EIO; }

/* One step, after which the old file has the name of the new one. Also quicker: ext4 sends the contents of a file that
 * takes the place of another to the disk first. */
static int exchange(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) < 0 ? errno : 0;
}

/* For file systems that cannot exchange. */
static int replace_linked(const char *from, const char *to, infc_move *move) {
    if (link(to, move->kept) < 0) {
        if (is_disk(errno)) return errno;
        move->kept = NULL;
        move->final = true;
    }
    return rename(from, to) < 0 ? errno : 0;
}

int infc_moves_replace(infc_moves *moves, const char *from, const char *to) {
    infc_move move = {INFC_MOVED, from, to, NULL, false};
    struct stat info;
    int error = 0;
    if (lstat(to, &info) < 0) {
        if (errno != ENOENT) return errno;
        error = rename(from, to) < 0 ? errno : 0;
    } else if (S_ISDIR(info.st_mode)) {
        return EISDIR;
    } else if (infc_file_is(from, &info)) {
        return utimensat(AT_FDCWD, to, NULL, 0) < 0 ? errno : 0; /* new, for whoever goes by times */
    } else {
        error = exchange(from, to);
        if (!error) move.what = INFC_EXCHANGED;
        else if (!is_disk(error)) {
            move.kept = kept_name(moves);
            error = replace_linked(from, to, &move);
            if (error && move.kept) unlink(move.kept);
        }
    }
    if (!error) done(moves, move);
    return error;
}

int infc_moves_take(infc_moves *moves, const char *from) {
    infc_move move = {INFC_MOVED, from, kept_name(moves), NULL, false};
    if (rename(move.from, move.to) < 0) return errno;
    done(moves, move);
    return 0;
}

int infc_moves_make_folders(infc_moves *moves, const char *dir, const char *path) {
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        const char *part = infc_path_join(
            moves->arena, dir, infc_arena_copy_string(moves->arena, path, (size_t)(slash - path)));
        if (mkdir(part, 0777) == 0)
            done(moves, (infc_move){INFC_MADE_FOLDER, NULL, part, NULL, false});
        else if (errno != EEXIST) return errno;
    }
    return 0;
}

void infc_moves_prune(infc_moves *moves, const char *dir, const char *path) {
    for (const char *folder = infc_path_dir(moves->arena, path); strcmp(folder, ".") != 0;
         folder = infc_path_dir(moves->arena, folder)) {
        const char *full = infc_path_join(moves->arena, dir, folder);
        if (rmdir(full) == 0)
            done(moves, (infc_move){INFC_REMOVED_FOLDER, full, NULL, NULL, false});
        else if (errno != ENOENT) return;
    }
}

static bool take_back(const infc_move *move) {
    switch (move->what) {
    case INFC_MADE_FOLDER: return rmdir(move->to) == 0;
    case INFC_REMOVED_FOLDER: return mkdir(move->from, 0777) == 0;
    case INFC_EXCHANGED: return exchange(move->to, move->from) == 0;
    case INFC_MOVED: break;
    }
    if (move->final || rename(move->to, move->from) < 0) return false;
    return !move->kept || rename(move->kept, move->to) == 0;
}

bool infc_moves_undo(infc_moves *moves) {
    bool all = true;
    while (moves->n) all &= take_back(&moves->done[--moves->n]);
    return all;
}
