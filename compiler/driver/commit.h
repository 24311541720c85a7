/* commit.h - the end of a compile: what it made gets its final names. */
#ifndef INFC_COMMIT_H
#define INFC_COMMIT_H
#include "../base/file.h"

/* The files that the manifests of the stage list go to the folder of the stage, and what earlier compiles made there
 * goes away, except what was changed since; other files of the folder stay, or are refused as in the way before
 * anything is touched. When a step fails, those before it are taken back. From the first step to the last
 * the folder's manifest.json is marked as unfinished and lists the files of both: whenever the process is killed, the
 * next compile knows them all. Two processes do this one after the other. */
infc_status infc_commit(infc_stage *stage);

#endif
