/*
 * `toolgate_output`, the tool that pages through outputs which were too large
 * for an answer: it comes with the first tool of a server that has such.
 */
#ifndef _NGX_TOOLGATE_READER_H_INCLUDED_
#define _NGX_TOOLGATE_READER_H_INCLUDED_

#include "nginx/conf/ngx_toolgate_handler.h"

/* All blocks of a server were read: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_reader_offer(ngx_conf_t *cf,
                                    ngx_toolgate_srv_conf_t *scf);

#endif
