/*
 * A client's questions, as tg_uv_client.c needs them.  For the files of this
 * folder only.
 */
#ifndef TG_UV_QUESTION_H
#define TG_UV_QUESTION_H

#include "uv/tg_uv_client.h"

/* Sends it, when there is a connection that it was not sent on. */
void tg_uv_question_send(tg_uv_client_t *client, tg_uv_question_t *question);

/* Its answer, or a page of it, or how it was lost. */
void tg_uv_question_answered(tg_uv_client_t *client, tg_uv_question_t *question,
                             const tg_answer_t *answer);

/* There is no memory: the connection's end says so. */
void tg_uv_client_nomem(tg_uv_client_t *client);

#endif
