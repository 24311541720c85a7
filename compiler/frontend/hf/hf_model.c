#include "hf_model.h"
#include "../../base/file.h"
#include "json_file.h"
#include "safetensors.h"
#include <errno.h>
#include <string.h>

static const char config_name[] = "config.json", whole_name[] = "model.safetensors",
                  index_name[] = "model.safetensors.index.json";

bool infc_hf_is_folder(const char *path) {
    infc_arena *arena = infc_dir_exists(path) ? infc_arena_create() : NULL;
    if (!arena) return false;
    bool found = infc_file_exists(infc_path_join(arena, path, config_name));
    infc_arena_destroy(&arena);
    return found;
}

static infc_status read_file(infc_cx *cx, const char *path, infc_llm_model *out) {
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    out->file_bytes += file.len;
    return infc_safetensors_read(cx, path, file, &out->checkpoint);
}

/* A name that the index gives: a file of the folder itself, no path. */
static infc_status shard_name(infc_cx *cx, infc_loc loc, const char *tensor, const json_t *value,
                              const char **out) {
    *out = json_string_value(value);
    if (!*out || !**out || strchr(*out, '/') || strlen(*out) > 255)
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "tensor \"%s\" must be in a file of the same folder, named without a path", tensor);
    return INFC_OK;
}

static infc_status read_shards(infc_cx *cx, const char *dir, const char *index_path, infc_llm_model *out) {
    infc_loc loc = {.file = index_path};
    infc_map shards = {.arena = cx->arena};
    infc_bytes text;
    json_t *index, *value;
    const char *tensor, *shard;
    INFC_TRY(infc_file_map(cx, index_path, &text));
    INFC_TRY(infc_json_object_read(cx, index_path, text, &index));
    const json_t *map = json_object_get(index, "weight_map");
    if (!json_is_object(map))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "key \"weight_map\" is missing or no object");
    json_object_foreach((json_t *)map, tensor, value) { /* it only reads */
        INFC_TRY(shard_name(cx, loc, tensor, value, &shard));
        if (infc_map_find(&shards, shard, NULL)) continue;
        infc_map_put(&shards, shard, 0);
        INFC_TRY(read_file(cx, infc_path_join(cx->arena, dir, shard), out));
    }
    json_object_foreach((json_t *)map, tensor, value) {
        const infc_stored_tensor *found = infc_checkpoint_find(&out->checkpoint, tensor);
        if (!found || strcmp(infc_path_base(found->file), json_string_value(value)) != 0)
            return infc_fail(cx, INFC_ERR_MODEL, loc, "tensor \"%s\" is not in %s, where the index puts it",
                             tensor, json_string_value(value));
    }
    if (out->checkpoint.n != json_object_size(map))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "the files hold %zu tensors, but the index names %zu",
                         out->checkpoint.n, json_object_size(map));
    return INFC_OK;
}

static infc_status read_config(infc_cx *cx, infc_llm_model *out) {
    infc_bytes text;
    INFC_TRY(infc_file_map(cx, out->path, &text));
    return infc_hf_config(cx, out->path, text, &out->config);
}

static infc_status read_weights(infc_cx *cx, const char *path, bool folder, const char *dir, infc_llm_model *out) {
    const char *index = infc_path_join(cx->arena, dir, index_name);
    if (!folder) return read_file(cx, path, out);
    if (infc_file_exists(index)) return read_shards(cx, dir, index, out);
    return read_file(cx, infc_path_join(cx->arena, dir, whole_name), out);
}

infc_status infc_hf_read(infc_cx *cx, const char *path, infc_llm_model *out) {
    bool folder = infc_dir_exists(path);
    const char *dir = folder ? path : infc_path_dir(cx->arena, path);
    out->path = infc_path_join(cx->arena, dir, config_name);
    out->checkpoint = infc_checkpoint_empty(cx->arena);
    if (!folder && !infc_file_exists(out->path))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path},
                         "there is no config.json beside it, which says what the tensors are for");
    infc_status config = read_config(cx, out); /* its problems are told beside those of the weights */
    INFC_TRY(read_weights(cx, path, folder, dir, out));
    out->format = "safetensors";
    return config;
}
