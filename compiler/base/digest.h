/* digest.h - SHA-256 of files, large ones from the cache where these bytes were digested before. */
#ifndef INFC_DIGEST_H
#define INFC_DIGEST_H
#include "cx.h"

struct infc_stamp; /* of stamp.h */

enum { INFC_DIGEST_LARGE = 1 << 20 }; /* what the cache is asked for */
/* infc_sha256_hex of each of `n` mapped files whose out[i] is null, large ones side by side. What is read is
 * dropped from memory. */
void infc_digests(infc_cx *cx, const infc_bytes *files, size_t n, const char **out);
const char *infc_digest(infc_cx *cx, infc_bytes file);
/* The same of files that were read before, from their stamps. out[i] is overwritten; paths lead to where the files were
 * mapped, no link followed at their ends. */
void infc_digests_stamped(infc_cx *cx, const infc_bytes *files, const struct infc_stamp *stamps,
                          const char *const *paths, size_t n, const char **out);
/* Of the whole of a file of infc_file_map. */
const char *infc_digest_mapped(infc_cx *cx, infc_bytes file);
/* A file that is about to be replaced: its digest is kept, by its stamp, for who asks whether it is what it was, and
 * the memory that holds its content is given back, for what replaces it to use. `fd` is the same file, open. Nothing is
 * done where it would be read from the disk again, or is not on the disk yet. */
void infc_digest_retire(infc_cx *cx, const char *path, int fd);
/* For who digests elsewhere: the secret of the cache, false without one; and what infc_digests is to find, by the keyed
 * hash under that secret. */
bool infc_digest_secret(infc_cx *cx, infc_bytes *out);
void infc_digest_keep(infc_cx *cx, const uint8_t name[16], uint64_t bytes, const uint8_t digest[32]);
/* The digest of all that this process wrote to `path`, from then on; null when nothing of this size was noted. For
 * files of a stage, which nobody else writes. */
void infc_digest_note(infc_cx *cx, const char *path, uint64_t bytes, const char *digest);
const char *infc_digest_noted(const infc_cx *cx, const char *path, uint64_t bytes);

#endif
