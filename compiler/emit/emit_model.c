/* emit_model.c - NAME_model.c: the infc_model descriptor and the CPU check. */
#include "emit_prepare.h"
#include <string.h>

static const char *literal(const infc_emit_unit *u, const char *text) {
    return infc_emit_literal(u->cx->arena, text);
}

static void print_tensor(const infc_emit_unit *u, int id, int step, uint64_t offset, infc_buf *out) {
    const infc_plan_buffer *buffer = &u->plan->buffers[id];
    infc_buf_printf(out, "    {%s, INFC_DTYPE_%s, INFC_LAYOUT_%s, %d, %d, {",
                    literal(u, buffer->tensor ? buffer->tensor : buffer->name),
                    infc_dtype_name(buffer->type.dtype), infc_layout_name(buffer->type.layout),
                    buffer->type.rank, step);
    for (int d = 0; d < buffer->type.rank; d++)
        infc_buf_printf(out, "%s%lld", d ? ", " : "", (long long)infc_dim_most(buffer->type.dims[d]));
    infc_buf_printf(out, "%s}, %llu, %llu%s},\n", buffer->type.rank ? "" : "0",
                    (unsigned long long)buffer->bytes, (unsigned long long)offset,
                    offset > INT64_MAX ? "u" : "");
}

/* Intermediates that the model names: in the arena, whole after the step that writes them. */
static bool is_shown(const infc_emit_unit *u, int i) {
    const infc_plan_buffer *root = &u->plan->buffers[infc_plan_root(u->plan, i)];
    return u->plan->buffers[i].tensor && root->place == INFC_PLACE_ARENA && root->first >= 0;
}

/* The body of infc_model.dims. */
static const char *dims_cases(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    int n = 0;
    for (int i = 0; i < u->plan->n_inputs; i++)
        infc_emit_dims_case(u, INFC_TABLE_INPUTS, i, u->plan->inputs[i], &out);
    for (int i = 0; i < u->plan->n_outputs; i++)
        infc_emit_dims_case(u, INFC_TABLE_OUTPUTS, i, u->plan->outputs[i], &out);
    for (int i = 0; i < u->plan->n_buffers; i++)
        if (is_shown(u, i)) infc_emit_dims_case(u, INFC_TABLE_TENSORS, n++, i, &out);
    return infc_buf_str(&out);
}

static const char *port_infos(const infc_emit_unit *u, const int *ids, int n, const infc_index_range *made_up) {
    infc_buf out = {.arena = u->cx->arena};
    for (int i = 0; i < n; i++) {
        const infc_dtype dtype = u->plan->buffers[ids[i]].type.dtype;
        const bool whole = made_up && (infc_dtype_is_integer(dtype) || dtype == INFC_DTYPE_bool);
        const infc_index_range range = whole ? made_up[i] : (infc_index_range){0, 0};
        print_tensor(u, ids[i], (int)range.span, (uint64_t)range.least, &out);
    }
    return infc_buf_str(&out);
}

static const char *tensor_infos(const infc_emit_unit *u, int *n) {
    infc_buf out = {.arena = u->cx->arena};
    *n = 0;
    for (int i = 0; i < u->plan->n_buffers; i++) {
        const infc_plan_buffer *root = &u->plan->buffers[infc_plan_root(u->plan, i)];
        if (!is_shown(u, i)) continue;
        print_tensor(u, i, root->whole, root->offset, &out);
        ++*n;
    }
    return infc_buf_str(&out);
}

const char *infc_emit_step_infos(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (int s = 0; s < u->plan->n_steps; s++) {
        const infc_plan_step *step = &u->plan->steps[s];
        infc_buf_printf(&out, "    {%s, %s, %s, %llu, %llu, %d, %lld},\n",
                        literal(u, u->functions[u->step_function[s]].label),
                        literal(u, step->node ? step->node : ""),
                        literal(u, step->kernel ? step->kernel->name : "loop nest"),
                        (unsigned long long)step->flops, (unsigned long long)step->bytes,
                        step->barrier != 0, (long long)infc_dim_most(step->units));
    }
    return infc_buf_str(&out);
}

/* ---- post-processing from the spec ------------------------------------------------------------------ */

static infc_status check_classes(const infc_emit_unit *u, const infc_spec_classes *classes, int output) {
    if (output < 0)
        return infc_fail(u->cx, INFC_ERR_SPEC, classes->loc, "the model has no output \"%s\"",
                         classes->output);
    const infc_type *type = &u->plan->buffers[u->plan->outputs[output]].type;
    const int64_t scores = infc_type_count(type);
    if (type->dtype != INFC_DTYPE_f32)
        return infc_fail(u->cx, INFC_ERR_SPEC, classes->loc, "output \"%s\" is %s; classes need f32 scores",
                         classes->output, infc_type_text(u->cx->arena, type));
    if (classes->n_labels == 0 || classes->n_labels == (uint64_t)scores) return INFC_OK;
    return infc_fail(u->cx, INFC_ERR_SPEC, classes->loc,
                     "%zu labels for the %lld scores of output \"%s\" (%s)", classes->n_labels,
                     (long long)scores, classes->output, infc_type_text(u->cx->arena, type));
}

static infc_status class_infos(const infc_emit_unit *u, infc_buf *labels, infc_buf *out) {
    for (size_t i = 0; u->spec && i < u->spec->n_classes; i++) {
        const infc_spec_classes *classes = &u->spec->classes[i];
        const int output = infc_emit_port(u, u->plan->outputs, u->plan->n_outputs, classes->output);
        INFC_TRY(check_classes(u, classes, output));
        const char *name = classes->n_labels ? infc_arena_printf(u->cx->arena, "labels%zu", i) : "0";
        if (classes->n_labels) infc_buf_printf(labels, "static const char *const %s[] = {\n", name);
        for (size_t k = 0; k < classes->n_labels; k++)
            infc_buf_printf(labels, "    %s,\n", literal(u, classes->labels[k]));
        if (classes->n_labels) infc_buf_puts(labels, "};\n");
        infc_buf_printf(out, "    {%d, %zu, %d, %s, %u},\n", output, classes->n_labels,
                        classes->top, name, classes->scores);
    }
    return INFC_OK;
}

/* ---- the CPU ---------------------------------------------------------------------------------------------------- */

/* Fields of the ID registers, which Linux lets programs read: at least `least` at `shift`. */
static const struct {
    const char *feature, *reg;
    int shift, least;
} arm_fields[] = {
    {"dotprod", "ID_AA64ISAR0_EL1", 44, 1}, {"i8mm", "ID_AA64ISAR1_EL1", 52, 1},
    {"bf16", "ID_AA64ISAR1_EL1", 44, 1},    {"sve", "ID_AA64PFR0_EL1", 32, 1},
    {"sve2", "S3_0_C0_C4_4", 0, 1}, /* ID_AA64ZFR0_EL1 */
};

static bool arm_check(const char *feature, size_t n, infc_buf *out) {
    for (size_t i = 0; i < sizeof arm_fields / sizeof *arm_fields; i++) {
        const char *name = arm_fields[i].feature;
        if (strlen(name) != n || memcmp(name, feature, n) != 0) continue;
        infc_buf_printf(out,
                        "    __asm__(\"mrs %%0, %s\" : \"=r\"(id));\n"
                        "    if ((id >> %d & 15) < %d) return \"%s\";\n",
                        arm_fields[i].reg, arm_fields[i].shift, arm_fields[i].least, name);
        return true;
    }
    return false;
}

/* Linux gives tiles to a process that asks for them: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
static const char ask_for_tiles[] =
    "    long refused;\n"
    "    __asm__ volatile(\"syscall\" : \"=a\"(refused) : \"0\"(158L), \"D\"(0x1023L), \"S\"(18L)\n"
    "                     : \"rcx\", \"r11\", \"memory\");\n"
    "    if (refused) return \"amx-tile (the system does not permit it)\";\n";

/* RISC-V has no register that says it, and WebAssembly and microcontrollers fail to load what they cannot run. */
infc_status infc_emit_cpu_checks(const infc_emit_unit *u, const infc_target *target, infc_buf *out) {
    const char *features = target->cpu_features, *arch = target->platform->arch;
    const bool arm = strcmp(arch, "aarch64") == 0, x86 = strcmp(arch, "x86_64") == 0;
    if (!features || !*features) return INFC_OK;
    if (x86) infc_buf_puts(out, "    __builtin_cpu_init();\n");
    if (arm) infc_buf_puts(out, "    uint64_t id;\n");
    for (const char *p = features; *p && (x86 || arm); p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (x86)
            infc_buf_printf(out, "    if (!__builtin_cpu_supports(\"%.*s\")) return \"%.*s\";\n",
                            (int)n, p, (int)n, p);
        else if (!arm_check(p, n, out))
            return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                             "no check for feature %.*s of %s", (int)n, p, arch);
        p += n;
    }
    if (x86 && strstr(features, "amx-tile")) infc_buf_puts(out, ask_for_tiles);
    return INFC_OK;
}

static const char *count(const infc_emit_unit *u, size_t n) {
    return infc_arena_printf(u->cx->arena, "%zu", n);
}

infc_status infc_emit_model_text(infc_emit_unit *u, infc_buf *out) {
    const infc_plan *plan = u->plan;
    infc_arena *arena = u->cx->arena;
    infc_buf labels = {.arena = arena}, classes = {.arena = arena}, cpu = {.arena = arena};
    int n_tensors;
    const char *tensors = tensor_infos(u, &n_tensors);
    const char *serve = plan->llm ? "" : infc_emit_serve_info(u), *embed = infc_emit_embed_info(u);
    INFC_TRY(class_infos(u, &labels, &classes));
    infc_buf level_checks = {.arena = arena};
    INFC_TRY(infc_emit_cpu_checks(u, &plan->target, &cpu));
    INFC_TRY(infc_emit_level_checks(u, &level_checks));
    const infc_expand_var vars[] = {
        {"n_sizes", count(u, (size_t)infc_emit_n_sizes(u))},
        {"size_infos", infc_emit_size_infos(u)},
        {"check_sizes", infc_emit_check_sizes(u)},
        {"dims_cases", dims_cases(u)},
        {"n_inputs", count(u, (size_t)plan->n_inputs)},
        {"n_outputs", count(u, (size_t)plan->n_outputs)},
        {"n_tensors", count(u, (size_t)n_tensors)},
        {"n_steps", count(u, (size_t)plan->n_steps)},
        {"n_images", count(u, infc_emit_prepares(u) ? u->spec->n_images : 0)},
        {"n_classes", count(u, u->spec ? u->spec->n_classes : 0)},
        {"input_infos", port_infos(u, plan->inputs, plan->n_inputs, plan->made_up)},
        {"output_infos", port_infos(u, plan->outputs, plan->n_outputs, NULL)},
        {"tensor_infos", tensors},
        {"step_infos", infc_emit_step_infos(u)},
        {"image_infos", infc_buf_str(&u->prepare->image_infos)},
        {"class_labels", infc_buf_str(&labels)},
        {"class_infos", infc_buf_str(&classes)},
        {"n_audios", count(u, infc_emit_prepares(u) ? u->spec->n_audios : 0)},
        {"audio_infos", infc_buf_str(&u->prepare->audio_infos)},
        {"n_texts", count(u, infc_emit_prepares(u) ? u->spec->n_texts : 0)},
        {"text_infos", infc_buf_str(&u->prepare->text_infos)},
        {"llm_info", plan->llm ? infc_emit_llm_info(u) : ""},
        {"serve_info", serve},
        {"has_serve", *serve ? "1" : "0"},
        {"embed_info", embed},
        {"has_embed", *embed ? "1" : "0"},
        {"serve_fields", infc_arena_printf(arena, "%s%s", *serve ? ".serve = &serve, " : "",
                                           *embed ? ".embed = &embed, " : "")},
        {"cpu_checks", infc_buf_str(&cpu)},
        {"level_checks", infc_buf_str(&level_checks)},
        {"level_steps", infc_emit_level_steps(u)},
        {"level_infos", infc_emit_level_infos(u)},
        {"arena_lower_bound", infc_arena_printf(arena, "%llu", (unsigned long long)plan->arena_lower_bound)},
        {"weights_hash", infc_arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)u->weights_hash)},
        {"check_seed", infc_arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)plan->check_seed)},
        {"check_hash", infc_arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)plan->check_hash)},
        {"isa_literal", literal(u, infc_isa_token(plan->target.isa))},
        {"name_literal", literal(u, u->name)},
        {"source_literal", literal(u, plan->source ? plan->source : "")},
        {"license_literal", literal(u, u->spec && u->spec->license ? u->spec->license : "NOASSERTION")},
    };
    return infc_emit_skeleton(u, "NAME_model.c.in", vars, sizeof vars / sizeof *vars, out);
}
