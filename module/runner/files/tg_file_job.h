/* The job type `file`: reads a file in a thread (params: tg_file_spec.h). */
#ifndef TG_FILE_JOB_H
#define TG_FILE_JOB_H

#include "runner/files/tg_files.h"

extern const tg_job_type_t tg_file_job_type;

#endif
