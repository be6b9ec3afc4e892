/*
 * The kind `store_output`: a large result that a worker has itself, as of
 * `pass` or `library`, is stored, and answered with its preview.
 *
 *     store_output {"tool":NAME,"max_output":BYTES,"spill":{…},
 *                   "answer":{"text":"…"}}
 */
#ifndef TG_SPILL_STORE_H
#define TG_SPILL_STORE_H

#include "runner/tg_job.h"

extern const tg_kind_t tg_spill_store_kind;

#endif
