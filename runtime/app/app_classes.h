/* app_classes.h - an output as labels and scores. */
#ifndef INFRT_APP_CLASSES_H
#define INFRT_APP_CLASSES_H
#include "tensor_io.h"

enum { INFRT_CLASSES_MAX = 100, INFRT_LABEL_BYTES = 96 };

typedef struct infrt_class {
    uint32_t index;
    double score;                  /* as classes->scores says; may be NaN */
    char label[INFRT_LABEL_BYTES]; /* the index when there is no label */
} infrt_class;

/* How output `output` is shown as classes, or null. */
const infc_classes_info *infrt_classes_of(const infc_model *model, uint32_t output);
/* An output is rows of n_labels scores; 0 when it does not divide so. */
size_t infrt_classes_rows(const infc_tensor_info *info, const infc_classes_info *classes);
/* Whether scores are shown as confidences, 0 to 1. */
bool infrt_classes_confident(const infc_classes_info *classes);
/* The best of one row, the greatest first, equals by index: the values themselves, or what classes->scores makes of
 * them. Returns how many, at most INFRT_CLASSES_MAX. NaN scores come last. Of softmax, in a row with a NaN or with an
 * infinite greatest score all are NaN. */
uint32_t infrt_classes_best(const infc_tensor_info *info, const infc_classes_info *classes,
                            const void *data, size_t row, infrt_class best[INFRT_CLASSES_MAX]);

#endif
