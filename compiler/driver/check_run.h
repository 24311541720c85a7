/* check_run.h - a library without an operating system, run once: templates/emulator/ has the other side. */
#ifndef INFC_CHECK_RUN_H
#define INFC_CHECK_RUN_H
#include "verify.h"

/* The words of the command that runs `binary`, in a folder that holds the file of inputs. `more` are options of the
 * emulator, or null. Fails as infc_runner_words. */
infc_status infc_check_words(infc_cx *cx, const infc_target *target, const char *binary,
                             const infc_words *more, const char *folder, infc_words *out);
/* Makes `folder` and writes the inputs (an .npz) into it, in the target's byte order. */
infc_status infc_check_inputs(infc_cx *cx, const infc_target *target, const char *inputs, const char *folder);
/* One run in `folder`; what it left. */
infc_status infc_check_run(infc_cx *cx, const infc_target *target, const char *binary,
                           const char *inputs, const char *folder, infc_dumped *out);

#endif
