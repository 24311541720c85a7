/* app_prepare.h - files that the model's own code makes inputs of. */
#ifndef INFRT_APP_PREPARE_H
#define INFRT_APP_PREPARE_H
#include "app.h"

/* dtype and shape of the input for the sound in a WAV file, when its size is known only now: `out` has no data. */
infrt_status infrt_audio_steps(const infc_model *model, uint32_t input, infrt_bytes file,
                               const char *where, infrt_tensor *out, infrt_error *error);
/* The input, of the size that `model` says, from a WAV file. `note`: as in infrt_image_read. */
infrt_status infrt_audio_read(const infc_model *model, uint32_t input, infrt_bytes file,
                              const char *where, void *to, char note[256], infrt_error *error);

/* The text source that NAME=TEXT names, or null. TEXT, or @FILE. */
const infc_text_info *infrt_text_argument(const infc_model *model, const char *argument, const char **text);
/* As infrt_inputs_look, of the inputs that a text feeds. */
infrt_status infrt_text_look(infrt_app *app, const infc_text_info *info, const char *text,
                             infrt_input_seen *seen, void *self);
/* Fills them and marks them in `given`. */
infrt_status infrt_text_read(infrt_app *app, const infc_text_info *info, const char *text, bool *given);

#endif
