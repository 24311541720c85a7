/* app_result.c - shows the outputs of a run. */
#include "app.h"
#include "app_classes.h"
#include "app_json.h"
#include <inttypes.h>
#include <math.h>

enum { TEXT_VALUES = 8, JSON_VALUES = 1024 };

static size_t element_count(const infc_tensor_info *info) {
    size_t size = infrt_dtype_bytes(info->dtype);
    return size ? (size_t)info->bytes / size : 0;
}

static bool is_float(uint32_t dtype) {
    return dtype == INFC_DTYPE_f32 || dtype == INFC_DTYPE_f64 || dtype == INFC_DTYPE_f16 || dtype == INFC_DTYPE_bf16;
}

/* A double does not hold all integers of 64 bits. */
static bool less(const infc_tensor_info *info, const void *data, size_t i, size_t j) {
    if (info->dtype == INFC_DTYPE_i64)
        return ((const int64_t *)data)[i] < ((const int64_t *)data)[j];
    if (info->dtype == INFC_DTYPE_u64)
        return ((const uint64_t *)data)[i] < ((const uint64_t *)data)[j];
    return infrt_element(info->dtype, data, i) < infrt_element(info->dtype, data, j);
}

/* Where the least and the greatest stand that are not NaN; false when there is none. */
static bool range(const infc_tensor_info *info, const void *data, size_t *least, size_t *most, size_t *n_nan) {
    bool any = false;
    *n_nan = 0;
    for (size_t i = 0; i < element_count(info); i++) {
        if (isnan(infrt_element(info->dtype, data, i))) {
            ++*n_nan;
            continue;
        }
        if (!any || less(info, data, i, *least)) *least = i;
        if (!any || less(info, data, *most, i)) *most = i;
        any = true;
    }
    return any;
}

/* printf shows the sign bit of a NaN, which says nothing. */
static double shown(double value) { return isnan(value) ? (double)NAN : value; }

static void element_text(const infc_tensor_info *info, const void *data, size_t i, FILE *out) {
    const double value = shown(infrt_element(info->dtype, data, i));
    if (info->dtype == INFC_DTYPE_i64) fprintf(out, " %" PRId64, ((const int64_t *)data)[i]);
    else if (info->dtype == INFC_DTYPE_u64) fprintf(out, " %" PRIu64, ((const uint64_t *)data)[i]);
    else fprintf(out, is_float(info->dtype) ? " %.9g" : " %.0f", value);
}

static void tensor_text(const infc_tensor_info *info, const void *data, FILE *out) {
    char shape[INFRT_SHAPE_TEXT];
    size_t n_nan, least = 0, most = 0, n = element_count(info);
    fprintf(out, "%s %s", info->name, infrt_shape_text(info->dtype, info->rank, info->dims, shape));
    if (range(info, data, &least, &most, &n_nan)) {
        fputs("  min", out);
        element_text(info, data, least, out);
        fputs("  max", out);
        element_text(info, data, most, out);
    }
    if (n_nan) fprintf(out, "  NaN %zu", n_nan);
    fputs("\n ", out);
    for (size_t i = 0; i < n && i < TEXT_VALUES; i++) element_text(info, data, i, out);
    fputs(n > TEXT_VALUES ? " ...\n" : "\n", out);
}

static void classes_text(const infrt_class *best, uint32_t n, bool confident, FILE *out) {
    int width = 0;
    for (uint32_t i = 0; i < n; i++) {
        int length = snprintf(NULL, 0, "%s", best[i].label);
        if (length > width) width = length;
    }
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, confident ? "%-*s  %.4f\n" : "%-*s  %.6g\n", width, best[i].label,
                shown(best[i].score));
}

static size_t not_finite(const infc_tensor_info *info, const void *data) {
    size_t n = 0, count = is_float(info->dtype) ? element_count(info) : 0;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(infrt_element(info->dtype, data, i))) n++;
    return n;
}

/* "; input "image" has 3 values that are NaN or infinite", of the first that has some. */
static void cause_text(const infrt_app *app, char *out, size_t room) {
    const infc_model *model = app->model;
    *out = 0;
    for (uint32_t i = 0; i < model->n_inputs; i++) {
        size_t n = not_finite(&model->inputs[i], app->buffers.inputs[i]);
        if (n == 0) continue;
        snprintf(out, room, "; input \"%.200s\" has %zu value%s NaN or infinite",
                 model->inputs[i].name, n, n > 1 ? "s that are" : " that is");
        return;
    }
}

void infrt_result_notes(infrt_app *app) {
    const infc_model *model = app->model;
    for (uint32_t i = 0; i < model->n_outputs; i++) {
        const infc_tensor_info *info = &model->outputs[i];
        const infc_classes_info *classes = infrt_classes_of(model, i);
        const void *data = app->buffers.outputs[i];
        char cause[300];
        size_t least, most, n_nan = 0, n = element_count(info), n_lost = 0;
        if (is_float(info->dtype)) range(info, data, &least, &most, &n_nan);
        for (size_t row = 0; classes && row < infrt_classes_rows(info, classes); row++) {
            infrt_class best[INFRT_CLASSES_MAX];
            if (infrt_classes_best(info, classes, data, row, best) > 0 && isnan(best[0].score))
                n_lost++;
        }
        if (n_nan + n_lost == 0) continue;
        cause_text(app, cause, sizeof cause);
        if (n_nan)
            infrt_shell_note(&app->shell, "output \"%.200s\": %zu of %zu values are NaN%s",
                             info->name, n_nan, n, cause);
        else
            infrt_shell_note(&app->shell, "output \"%.200s\": infinite scores, so no confidence is known%s",
                             info->name, cause);
    }
}

void infrt_result_text(const infrt_app *app, FILE *out) {
    const infc_model *model = app->model;
    for (uint32_t i = 0; i < model->n_outputs; i++) {
        const infc_classes_info *classes = infrt_classes_of(model, i);
        const void *data = app->buffers.outputs[i];
        size_t rows = classes ? infrt_classes_rows(&model->outputs[i], classes) : 0;
        if (rows == 0) tensor_text(&model->outputs[i], data, out);
        for (size_t row = 0; row < rows; row++) {
            infrt_class best[INFRT_CLASSES_MAX];
            if (rows > 1) fprintf(out, "%s row %zu\n", model->outputs[i].name, row);
            uint32_t n = infrt_classes_best(&model->outputs[i], classes, data, row, best);
            classes_text(best, n, infrt_classes_confident(classes), out);
        }
    }
}

static void element_json(infrt_json *json, const char *key, const infc_tensor_info *info,
                         const void *data, size_t i) {
    const double value = infrt_element(info->dtype, data, i);
    if (is_float(info->dtype))
        infrt_json_float(json, key, value, info->dtype == INFC_DTYPE_f64 ? 17 : 9);
    else if (info->dtype == INFC_DTYPE_u64) infrt_json_uint(json, key, ((const uint64_t *)data)[i]);
    else
        infrt_json_int(json, key, info->dtype == INFC_DTYPE_i64 ? ((const int64_t *)data)[i] : (int64_t)value);
}

static void values_json(infrt_json *json, const infc_tensor_info *info, const void *data) {
    size_t n = element_count(info);
    size_t n_nan, least = 0, most = 0;
    if (range(info, data, &least, &most, &n_nan)) {
        element_json(json, "min", info, data, least);
        element_json(json, "max", info, data, most);
    }
    infrt_json_uint(json, "nan", n_nan);
    infrt_json_open(json, "values", '['); /* all, or the first of many */
    for (size_t i = 0; i < n && i < JSON_VALUES; i++) element_json(json, NULL, info, data, i);
    infrt_json_close(json, ']');
}

static void classes_json(infrt_json *json, const infc_tensor_info *info,
                         const infc_classes_info *classes, const void *data) {
    size_t rows = infrt_classes_rows(info, classes);
    infrt_json_open(json, "classes", '[');
    for (size_t row = 0; row < rows; row++) {
        infrt_class best[INFRT_CLASSES_MAX];
        uint32_t n = infrt_classes_best(info, classes, data, row, best);
        for (uint32_t i = 0; i < n; i++) {
            infrt_json_open(json, NULL, '{');
            infrt_json_uint(json, "row", row);
            infrt_json_uint(json, "index", best[i].index);
            infrt_json_string(json, "label", best[i].label);
            infrt_json_float(json, infrt_classes_confident(classes) ? "confidence" : "score",
                             best[i].score, 9);
            infrt_json_close(json, '}');
        }
    }
    infrt_json_close(json, ']');
}

static void output_json(infrt_json *json, const infrt_app *app, uint32_t i) {
    const infc_tensor_info *info = &app->model->outputs[i];
    const infc_classes_info *classes = infrt_classes_of(app->model, i);
    infrt_json_open(json, NULL, '{');
    infrt_json_string(json, "name", info->name);
    infrt_json_string(json, "dtype", infrt_dtype_name(info->dtype));
    infrt_json_open(json, "shape", '[');
    for (uint32_t d = 0; d < info->rank; d++) infrt_json_int(json, NULL, info->dims[d]);
    infrt_json_close(json, ']');
    if (classes) classes_json(json, info, classes, app->buffers.outputs[i]);
    values_json(json, info, app->buffers.outputs[i]);
    infrt_json_close(json, '}');
}

void infrt_result_json(const infrt_app *app, const infrt_run_times *times, FILE *out) {
    infrt_json json = {.out = out};
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "model", app->model->name);
    infrt_json_string(&json, "target", app->model->target);
    infrt_json_uint(&json, "workers", infrt_session_workers(app->session));
    infrt_json_uint(&json, "startup_ns", times->startup_ns);
    infrt_json_uint(&json, "runs", times->n);
    infrt_json_uint(&json, "run_min_ns", times->ns[0]);
    infrt_json_uint(&json, "run_median_ns", infrt_times_percentile(times->ns, times->n, 50));
    infrt_json_open(&json, "outputs", '[');
    for (uint32_t i = 0; i < app->model->n_outputs; i++) output_json(&json, app, i);
    infrt_json_close(&json, ']');
    infrt_json_close(&json, '}');
}
