/* app_classes.c - picks the best classes of a row of scores. */
#include "app_classes.h"
#include <math.h>
#include <stdio.h>

const infc_classes_info *infrt_classes_of(const infc_model *model, uint32_t output) {
    for (uint32_t i = 0; i < model->n_classes; i++)
        if (model->classes[i].output == output) return &model->classes[i];
    return NULL;
}

static size_t row_length(const infc_tensor_info *info, const infc_classes_info *classes) {
    if (classes->n_labels) return classes->n_labels;
    return info->rank ? (size_t)info->dims[info->rank - 1] : 1;
}

size_t infrt_classes_rows(const infc_tensor_info *info, const infc_classes_info *classes) {
    size_t size = infrt_dtype_bytes(info->dtype), n = size ? (size_t)info->bytes / size : 0;
    size_t length = row_length(info, classes);
    return length && n % length == 0 ? n / length : 0;
}

bool infrt_classes_confident(const infc_classes_info *classes) {
    return classes->scores != INFC_SCORES_values;
}

/* What softmax divides by: the sum of exp(value - most). */
typedef struct scale {
    double most, sum;
} scale;

static scale scale_find(const infc_tensor_info *info, const void *data, size_t first, size_t n) {
    scale s = {.most = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        double value = infrt_element(info->dtype, data, first + i);
        if (value > s.most) s.most = value;
    }
    for (size_t i = 0; i < n; i++)
        s.sum += exp(infrt_element(info->dtype, data, first + i) - s.most);
    return s;
}

static double score_of(uint32_t scores, const scale *s, double value) {
    if (scores == INFC_SCORES_softmax) return exp(value - s->most) / s->sum;
    if (scores == INFC_SCORES_sigmoid) return 1 / (1 + exp(-value));
    return value;
}

uint32_t infrt_classes_best(const infc_tensor_info *info, const infc_classes_info *classes,
                            const void *data, size_t row, infrt_class best[INFRT_CLASSES_MAX]) {
    size_t length = row_length(info, classes), first = row * length;
    uint32_t top = classes->top ? classes->top : 1, n = 0;
    scale s = {0};
    if (classes->scores == INFC_SCORES_softmax) s = scale_find(info, data, first, length);
    double scores[INFRT_CLASSES_MAX];
    if (top > INFRT_CLASSES_MAX) top = INFRT_CLASSES_MAX;
    for (size_t i = 0; i < length; i++) { /* insertion into the few that are best so far */
        double score = infrt_element(info->dtype, data, first + i);
        uint32_t at = n;
        if (isnan(score)) score = -INFINITY;
        while (at > 0 && score > scores[at - 1]) at--;
        if (at >= top) continue;
        if (n < top) n++;
        for (uint32_t k = n - 1; k > at; k--) {
            scores[k] = scores[k - 1];
            best[k].index = best[k - 1].index;
        }
        scores[at] = score;
        best[at].index = (uint32_t)i;
    }
    for (uint32_t k = 0; k < n; k++) {
        const char *label =
            classes->labels && best[k].index < classes->n_labels ? classes->labels[best[k].index] : NULL;
        best[k].score =
            score_of(classes->scores, &s, infrt_element(info->dtype, data, first + best[k].index));
        if (label) snprintf(best[k].label, INFRT_LABEL_BYTES, "%s", label);
        else snprintf(best[k].label, INFRT_LABEL_BYTES, "%u", best[k].index);
    }
    return n;
}
