/* llm_pack.c - reading .infw, and the pieces of it that come from the model's files. It is a safetensors file, so that
 * its directory is checked as that of any other. */
#define _GNU_SOURCE 1
#include "llm_pack.h"
#include "../../base/file.h"
#include "../../base/hash.h"
#include "../gguf/gguf_config.h"
#include "../hf/hf_model.h"
#include "../hf/json_file.h"
#include "../hf/safetensors.h"
#include <string.h>

static const char packed_prefix[] = "packed/", tensor_prefix[] = "tensor/", file_prefix[] = "file/",
                  pad_prefix[] = "pad/", head_name[] = "model.safetensors",
                  gguf_name[] = "header.gguf", config_name[] = "config.json";
static const char *const file_names[] = {config_name, "generation_config.json", "tokenizer.json",
                                         "tokenizer_config.json", "chat_template.jinja"};
enum { N_FILES = sizeof file_names / sizeof *file_names, MAX_RULES = 1000, DIGITS = 16 };
/* Matrices without bytes are not bounded by the size of the file. */
static const uint64_t max_dim = 1 << 24;

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The piece of that name; ptr null: there is none. */
static infc_bytes piece(const infc_llm_pack *pack, infc_arena *arena, const char *prefix, const char *name) {
    const infc_stored_tensor *t =
        infc_checkpoint_find(&pack->entries, infc_arena_printf(arena, "%s%s", prefix, name));
    return t ? t->bytes : (infc_bytes){0};
}

static infc_status missing(infc_cx *cx, const infc_llm_pack *pack, const char *prefix, const char *name) {
    return infc_fail(
        cx, INFC_ERR_MODEL, (infc_loc){.file = pack->path},
        "\"%s%s\" is missing, which every .infw file of this kind holds: it is damaged", prefix, name);
}

/* Of the file with zeros for the digits of the checksum. Memory drops what was read: the model may be larger. */
static uint64_t hash_of(infc_cx *cx, infc_bytes file, size_t digits) {
    enum { PART = 1 << 24 };
    infc_xxh64 hash;
    infc_xxh64_begin(&hash);
    infc_xxh64_put(&hash, file.ptr, digits);
    infc_xxh64_put(&hash, "0000000000000000", DIGITS);
    for (size_t at = digits + DIGITS; at < file.len; at += PART) {
        const infc_bytes part = {file.ptr + at, file.len - at < PART ? file.len - at : PART};
        infc_xxh64_put(&hash, part.ptr, part.len);
        infc_file_forget(cx, part.ptr, part.len);
    }
    return infc_xxh64_end(&hash);
}

static infc_status check_whole(infc_cx *cx, infc_loc loc, const json_t *metadata, infc_bytes file, infc_bytes data) {
    static const char key[] = "\"xxh64\":\""; /* where the directory has it, in which nothing stands before it */
    const char *version = json_string_value(json_object_get(metadata, "infw")),
               *hash = json_string_value(json_object_get(metadata, "xxh64"));
    if (!version || !hash)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "it is no .infw file: its metadata have no \"infw\" and \"xxh64\"");
    if (strcmp(version, INFC_PACKED_VERSION) != 0)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                         "version \"%.20s\" of the format is not read, only " INFC_PACKED_VERSION
                         "; pack the model again with this infc",
                         version);
    const uint8_t *at = memmem(file.ptr, file.len - data.len, key, sizeof key - 1);
    const size_t digits = at ? (size_t)(at - file.ptr) + sizeof key - 1 : 0;
    if (!at || strlen(hash) != DIGITS || memcmp(file.ptr + digits, hash, DIGITS) != 0)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "its directory is not as infc writes it: it is damaged, or changed");
    const char *found =
        infc_arena_printf(cx->arena, "%016llx", (unsigned long long)hash_of(cx, file, digits));
    if (strcmp(hash, found) == 0) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, loc,
                     "its checksum is %s, but should be %.20s: it is damaged", found, hash);
}

static infc_status index_entries(infc_cx *cx, infc_llm_pack *pack) {
    infc_packed *packed = &pack->packed;
    size_t n = 0;
    packed->index = (infc_map){.arena = cx->arena};
    packed->items = INFC_NEW(cx->arena, infc_bytes, pack->entries.n + 1);
    for (size_t i = 0; i < pack->entries.n; i++) {
        const infc_stored_tensor *t = &pack->entries.tensors[i];
        const bool is_packed = begins(t->name, packed_prefix);
        if (t->type != INFC_STORED_U8 || t->rank != 1 ||
            !(is_packed || begins(t->name, tensor_prefix) || begins(t->name, file_prefix) ||
              begins(t->name, pad_prefix)))
            return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = pack->path},
                             "\"%s\", %s, does not belong into an .infw file", t->name,
                             infc_stored_type_text(cx->arena, t));
        if (!is_packed) continue;
        packed->items[n] = t->bytes;
        infc_map_put(&packed->index, t->name + strlen(packed_prefix), n++);
        pack->packed_bytes += t->bytes.len;
    }
    return INFC_OK;
}

static bool format_named(const char *name, infc_spec_format *out) {
    for (int i = 1; name && infc_spec_formats[i]; i++) {
        if (strcmp(infc_spec_formats[i], name) != 0) continue;
        *out = (infc_spec_format)i;
        return true;
    }
    return false;
}

/* [[pattern, format], ...] */
static infc_status read_rules(infc_cx *cx, infc_loc loc, const char *text, infc_llm_pack *pack) {
    json_t *object;
    const char *wrapped = infc_arena_printf(cx->arena, "{\"rules\": %s}", text),
               *why = "no such format";
    INFC_TRY(infc_json_object_read(cx, loc.file, (infc_bytes){(const uint8_t *)wrapped, strlen(wrapped)}, &object));
    const json_t *list = json_object_get(object, "rules");
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || n > MAX_RULES)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "its rules are no list of at most %d", MAX_RULES);
    pack->rules = INFC_NEW(cx->arena, infc_spec_rule, n + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(list, i);
        infc_spec_rule *rule = &pack->rules[pack->n_rules++];
        const char *match = json_string_value(json_array_get(pair, 0));
        size_t at;
        *rule = (infc_spec_rule){.match = match ? match : "", .loc = loc};
        rule->code = match ? infc_spec_pattern(cx->arena, match, &why, &at) : NULL;
        if (!rule->code || !format_named(json_string_value(json_array_get(pair, 1)), &rule->weights))
            return infc_fail(cx, INFC_ERR_MODEL, loc, "its rule %zu is none: %s", i, why);
    }
    return INFC_OK;
}

static const char *text_of(infc_cx *cx, const json_t *metadata, const char *key) {
    const char *text = json_string_value(json_object_get(metadata, key));
    return text ? infc_arena_copy_string(cx->arena, text, strlen(text)) : NULL;
}

static infc_status read_metadata(infc_cx *cx, const json_t *metadata, infc_llm_pack *pack) {
    const infc_loc loc = {.file = pack->path};
    const char *weights = text_of(cx, metadata, "weights"), *rules = text_of(cx, metadata, "rules"),
               *rotate = text_of(cx, metadata, "int4_rotate");
    pack->source = text_of(cx, metadata, "source");
    pack->source_sha256 = text_of(cx, metadata, "source_sha256");
    pack->calibration = text_of(cx, metadata, "calibration");
    if (!pack->source || !pack->source_sha256 || !weights || !rules ||
        (strcmp(weights, "default") != 0 && !format_named(weights, &pack->weights)))
        return infc_fail(cx, INFC_ERR_MODEL,
                         loc, "its metadata must say source, source_sha256, weights (a format or default) and rules");
    if (!rotate || (strcmp(rotate, "64") != 0 && strcmp(rotate, "128") != 0))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "its metadata must say int4_rotate, 64 or 128");
    pack->int4_rotate = strcmp(rotate, "64") == 0 ? 64 : 128;
    INFC_TRY(read_rules(cx, loc, rules, pack));
    pack->packed.file = pack->path;
    pack->packed.holds = infc_arena_printf(
        cx->arena, "weights of %s precision%s%s%s", weights, pack->n_rules ? " with rules" : "",
        pack->calibration ? ", calibrated on " : "", pack->calibration ? pack->calibration : "");
    return INFC_OK;
}

/* Vectors get their bytes; matrices have none. */
static infc_status fill_vectors(infc_cx *cx, const infc_llm_pack *pack, infc_checkpoint *checkpoint) {
    const infc_loc loc = {.file = pack->path};
    for (size_t i = 0; i < checkpoint->n; i++) {
        infc_stored_tensor *t = &checkpoint->tensors[i];
        for (int d = 0; d < t->rank; d++)
            if (t->dims[d] > max_dim)
                return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "tensor \"%s\" is %s; sizes end at %llu",
                                 t->name, infc_stored_type_text(cx->arena, t), (unsigned long long)max_dim);
        if (t->rank > 1) continue;
        const infc_bytes bytes = piece(pack, cx->arena, tensor_prefix, t->name);
        if (!bytes.ptr) return missing(cx, pack, tensor_prefix, t->name);
        if (bytes.len != t->bytes.len)
            return infc_fail(cx, INFC_ERR_MODEL, loc, "\"%s%s\" has %zu bytes, but the model's tensor %zu",
                             tensor_prefix, t->name, bytes.len, t->bytes.len);
        t->bytes = bytes;
    }
    return INFC_OK;
}

static infc_status read_description(infc_cx *cx, const infc_llm_pack *pack, infc_llm_model *out) {
    const infc_bytes gguf = piece(pack, cx->arena, file_prefix, gguf_name);
    infc_bytes head, config;
    const char *path;
    if (gguf.ptr) {
        INFC_TRY(infc_gguf_read_head(cx, pack->path, gguf, &out->gguf));
        INFC_TRY(fill_vectors(cx, pack, &out->gguf.tensors));
        out->checkpoint = out->gguf.tensors;
        return infc_gguf_config(cx, &out->gguf, &out->config);
    }
    INFC_TRY(infc_llm_file(cx, out, head_name, &path, &head));
    if (!head.ptr) return missing(cx, pack, file_prefix, head_name);
    out->checkpoint = infc_checkpoint_empty(cx->arena);
    INFC_TRY(infc_safetensors_read_head(cx, pack->path, head, &out->checkpoint));
    INFC_TRY(fill_vectors(cx, pack, &out->checkpoint));
    INFC_TRY(infc_llm_file(cx, out, config_name, &path, &config));
    return config.ptr ? infc_hf_config(cx, path, config, &out->config)
                      : missing(cx, pack, file_prefix, config_name);
}

infc_status infc_llm_pack_read_bytes(infc_cx *cx, const char *path, infc_bytes file, infc_llm_model *out) {
    infc_llm_pack *pack = INFC_NEW(cx->arena, infc_llm_pack, 1);
    const json_t *metadata;
    infc_bytes data;
    *pack = (infc_llm_pack){.path = path, .entries = infc_checkpoint_empty(cx->arena)};
    out->path = path;
    out->file_bytes = file.len;
    INFC_TRY(infc_safetensors_metadata(cx, path, file, &metadata, &data));
    INFC_TRY(infc_safetensors_read(cx, path, file, &pack->entries));
    INFC_TRY(check_whole(cx, (infc_loc){.file = path}, metadata, file, data));
    INFC_TRY(index_entries(cx, pack));
    INFC_TRY(read_metadata(cx, metadata, pack));
    out->pack = pack;
    out->format = "infw " INFC_PACKED_VERSION;
    return read_description(cx, pack, out);
}

infc_status infc_llm_pack_read(infc_cx *cx, const char *path, infc_llm_model *out) {
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    return infc_llm_pack_read_bytes(cx, path, file, out);
}

infc_status infc_llm_file(infc_cx *cx, const infc_llm_model *model, const char *name,
                          const char **path, infc_bytes *out) {
    *out = (infc_bytes){0};
    if (model->pack) {
        *path = infc_arena_printf(cx->arena, "%s/%s", model->pack->path, name);
        *out = piece(model->pack, cx->arena, file_prefix, name);
        return INFC_OK;
    }
    *path = infc_path_join(cx->arena, infc_path_dir(cx->arena, model->path), name);
    const bool there = infc_file_exists(*path) || infc_file_what_else(*path); /* a folder of that name is an error */
    return there ? infc_file_map(cx, *path, out) : INFC_OK;
}

infc_status infc_llm_pack_spec(infc_cx *cx, const infc_llm_pack *pack, const infc_spec *spec,
                               infc_spec *out, const char **calibration) {
    const char *data = spec->calibration ? infc_path_base(spec->calibration) : INFC_OWN_CALIBRATION;
    *out = *spec;
    *calibration = NULL;
    if (spec->calibrates) {
        const size_t n = strlen(data);
        if (!pack->calibration || strncmp(pack->calibration, data, n) != 0 || pack->calibration[n] != ',')
            return infc_fail(cx, INFC_ERR_SPEC, spec->calibration_loc,
                             "precision.calibration: %s holds %s; remove it, or take the model "
                             "that it was packed from",
                             pack->path, pack->packed.holds);
        *calibration = pack->calibration;
    } else if (spec->weights == INFC_FORMAT_NONE && spec->n_rules == 0) {
        out->weights = pack->weights;
        out->rules = pack->rules;
        out->n_rules = pack->n_rules;
        *calibration = pack->calibration;
    }
    return INFC_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

typedef struct pieces {
    infc_arena *arena;
    infc_pack_entry *items;
    size_t n, cap;
} pieces;

static void add(pieces *p, const char *prefix, const char *name, infc_bytes bytes) {
    INFC_GROW(p->arena, p->items, p->n, p->cap);
    p->items[p->n++] = (infc_pack_entry){infc_arena_printf(p->arena, "%s%s", prefix, name), bytes};
}

/* What a safetensors file with these tensors begins with. */
static infc_bytes head_of(infc_arena *arena, const infc_checkpoint *checkpoint) {
    infc_buf text = {.arena = arena}, out = {.arena = arena};
    uint64_t at = 0;
    for (size_t i = 0; i < checkpoint->n; i++) {
        const infc_stored_tensor *t = &checkpoint->tensors[i];
        infc_buf_puts(&text, i ? ",\n" : "{");
        infc_buf_json_string(&text, t->name);
        infc_buf_printf(&text, ":{\"dtype\":\"%s\",\"shape\":[", infc_stored_types[t->type].safetensors);
        for (int d = 0; d < t->rank; d++)
            infc_buf_printf(&text, "%s%llu", d ? "," : "", (unsigned long long)t->dims[d]);
        infc_buf_printf(&text, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                        (unsigned long long)(at + t->bytes.len));
        at += t->bytes.len;
    }
    infc_buf_puts(&text, checkpoint->n ? "}" : "{}");
    for (int i = 0; i < 8; i++) {
        const uint8_t byte = (uint8_t)((uint64_t)text.len >> 8 * i);
        infc_buf_put(&out, &byte, 1);
    }
    infc_buf_put(&out, infc_buf_str(&text), text.len);
    return infc_buf_bytes(&out);
}

infc_status infc_llm_pack_pieces(infc_cx *cx, const infc_llm_model *model, infc_pack_entry **out, size_t *n) {
    pieces p = {.arena = cx->arena};
    const char *path;
    infc_bytes bytes;
    for (size_t i = 0; i < model->checkpoint.n; i++) {
        const infc_stored_tensor *t = &model->checkpoint.tensors[i];
        if (t->rank <= 1) add(&p, tensor_prefix, t->name, t->bytes);
    }
    if (model->gguf.path) {
        INFC_TRY(infc_file_map(cx, model->gguf.path, &bytes));
        add(&p, file_prefix, gguf_name, (infc_bytes){bytes.ptr, model->gguf.head_bytes});
    } else {
        add(&p, file_prefix, head_name, head_of(cx->arena, &model->checkpoint));
        for (int i = 0; i < N_FILES; i++) {
            INFC_TRY(infc_llm_file(cx, model, file_names[i], &path, &bytes));
            if (bytes.ptr) add(&p, file_prefix, file_names[i], bytes);
        }
    }
    *out = p.items;
    *n = p.n;
    return INFC_OK;
}

static void put_member(infc_buf *out, const char *key, const char *value) {
    infc_buf_printf(out, "%s\"%s\":", out->len ? "," : "", key);
    infc_buf_json_string(out, value);
}

const char *infc_llm_pack_metadata(infc_cx *cx, const infc_spec *spec, const infc_llm_facts *facts,
                                   const char *source, const char *source_sha256) {
    infc_buf out = {.arena = cx->arena}, rules = {.arena = cx->arena};
    infc_buf_puts(&rules, "[");
    for (size_t i = 0; i < spec->n_rules; i++) {
        infc_buf_puts(&rules, i ? ",[" : "[");
        infc_buf_json_string(&rules, spec->rules[i].match);
        infc_buf_printf(&rules, ",\"%s\"]", infc_spec_formats[spec->rules[i].weights]);
    }
    infc_buf_puts(&rules, "]");
    put_member(&out, "weights", spec->weights == INFC_FORMAT_NONE ? "default" : infc_spec_formats[spec->weights]);
    put_member(&out, "rules", infc_buf_str(&rules));
    if (facts->calibration) put_member(&out, "calibration", facts->calibration);
    put_member(&out, "int4_rotate", infc_arena_printf(cx->arena, "%lld", (long long)facts->int4_rotate));
    put_member(&out, "source", source);
    put_member(&out, "source_sha256", source_sha256);
    return infc_buf_str(&out);
}
