/* The job type `files`: lists a folder in a thread (tg_file_spec.h). */
#ifndef TG_FILE_LIST_JOB_H
#define TG_FILE_LIST_JOB_H

#include "runner/files/tg_files.h"

extern const tg_job_type_t tg_file_list_job_type;

#endif
