/* json_file.h - JSON of model files, read by jansson; what is read lives as long as the arena of cx. */
#ifndef INFC_JSON_FILE_H
#define INFC_JSON_FILE_H
#include "../../base/cx.h"
#include <jansson.h>

/* An object; keys given twice are errors. INFC_ERR_MODEL with line and column. */
infc_status infc_json_object_read(infc_cx *cx, const char *path, infc_bytes text, json_t **out);

#endif
