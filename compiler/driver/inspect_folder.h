/* inspect_folder.h - `infc inspect DIR`: what an earlier compile made, from its report. */
#ifndef INFC_INSPECT_FOLDER_H
#define INFC_INSPECT_FOLDER_H
#include "command.h"

infc_status infc_inspect_folder(infc_call_cx *call, const char *dir);

#endif
