/* app_prepare.h - files that the model's own code makes inputs of. */
#ifndef INFRT_APP_PREPARE_H
#define INFRT_APP_PREPARE_H
#include "tensor_io.h"

/* How input `input` is made of sound, or null. */
const infc_audio_info *infrt_audio_of(const infc_model *model, uint32_t input);
/* dtype and shape of the input for the sound in a WAV file, when its size is known only now: `out` has no data. */
infrt_status infrt_audio_steps(const infc_model *model, uint32_t input, infrt_bytes file,
                               const char *where, infrt_tensor *out, infrt_error *error);
/* The input, of the size that `model` says, from a WAV file. `note`: as in infrt_image_read. */
infrt_status infrt_audio_read(const infc_model *model, uint32_t input, infrt_bytes file,
                              const char *where, void *to, char note[256], infrt_error *error);

#endif
