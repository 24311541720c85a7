/* app_outputs.h - the files that a run writes. */
#ifndef INFRT_APP_OUTPUTS_H
#define INFRT_APP_OUTPUTS_H
#include "app.h"

/* Before anything is read: INFRT_ERR_USAGE when a name's ending is not that of what would be in the file. */
infrt_status infrt_outputs_check_endings(infrt_app *app);
/* Before the runs: INFRT_ERR_USAGE when a file to write is one that is read (an input, the weights, this program; by
 * device and inode, so under any name), or is to be written twice. `dumped`: what --dump-to will get. */
infrt_status infrt_outputs_check_files(infrt_app *app, const infc_tensor_info *const *dumped, size_t n_dumped);
/* What --output and --outputs ask for. */
infrt_status infrt_outputs_write(infrt_app *app);

#endif
