/*
 * A skill: a folder with a file SKILL.md, which begins with a frontmatter in
 * YAML (MCP's extension io.modelcontextprotocol/skills).
 */
#ifndef TG_SKILL_H
#define TG_SKILL_H

#include "base/tg_buf.h"

#define TG_SKILL_FILE "SKILL.md"

/* Longest frontmatter in bytes. */
#define TG_SKILL_FRONTMATTER_MAX 65536

/* Checks whether a path below the root is that of a skill's SKILL.md. */
int tg_skill_is_path(tg_str_t path);

/*
 * Appends the frontmatter of a SKILL.md as JSON, with every field. path is that
 * of the file below the root. TG_OK, TG_NOMEM, or TG_INVALID with what is wrong
 * and what to do appended to *why.
 */
int tg_skill_parse(tg_str_t text, tg_str_t path, tg_buf_t *json, tg_buf_t *why);

/* Does this with a file below the folder root, a descriptor. */
int tg_skill_load(int root, tg_str_t path, tg_buf_t *json, tg_buf_t *why);

#endif
