/*
 * What the database is asked.  The values of each statement are
 *
 *   $1 now       $2 id        $3 priority or offset   $4 limit
 *   $5 pid       $6 state     $7 prompt   $8 agent    $9 cwd
 *   $10 metadata $11 result, or the beginning of a prompt
 *   $12 error    $13 output   $14 agents  $15 their retries
 *   $16 this runner           $17 its place
 *   $18 which question this is            $19 bytes   $20 owner
 *   $21 job      $22 form     $23 notes
 *
 * Texts are JSON, as PostgreSQL's have no NUL.  A row says what TG_* it is, by
 * its name, an id, a state, and what is told; no row is TG_MISSING or
 * TG_END.
 */
#include "runner/store/tg_store_pq.h"

/* --- what is told --- */

/* SQL is laid out by hand. */
/* clang-format off */

#define TG_PQ_ID \
    "'\"task-'||lpad(id::text,greatest(4,length(id::text)),'0')||'\"'"
#define TG_PQ_STATE \
    "(ARRAY['queued','running','completed','failed','cancelled'])[state+1]"
#define TG_PQ_MORE(key, value) "',\"" key "\":'||coalesce(" value ",'null')||"
#define TG_PQ_TIME(key, ms) TG_PQ_MORE(key, \
    "'\"'||to_char(to_timestamp(" ms "/1000.0) AT TIME ZONE 'UTC'," \
    "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')||'\"'")

/* The host name of the runner that has a task; its place begins with that. */
#define TG_PQ_MACHINE \
    "(SELECT to_json(split_part(r.place,':',1))::text FROM toolgate_runner r" \
    " WHERE state=1 AND r.incarnation=runner)"

/* All but the end. */
#define TG_PQ_TASK \
    "'{\"id\":'||" TG_PQ_ID "||',\"prompt\":'||prompt||" \
    "',\"agent\":\"'||agent||'\",\"priority\":'||priority||" \
    "',\"state\":\"'||" TG_PQ_STATE "||'\"'||" \
    TG_PQ_TIME("createdAt", "created_at") \
    TG_PQ_TIME("startedAt", "started_at") \
    TG_PQ_TIME("completedAt", "completed_at") \
    TG_PQ_MORE("pid", \
               "nullif(CASE state WHEN 1 THEN $5::bigint END,0)::text") \
    TG_PQ_MORE("machine", TG_PQ_MACHINE) \
    TG_PQ_MORE("error", "error") \
    TG_PQ_MORE("cwd", "cwd") \
    TG_PQ_MORE("owner", "to_json(owner)::text") \
    TG_PQ_MORE("metadata", "metadata,'{}'")
#define TG_PQ_WHOLE \
    TG_PQ_TASK \
    TG_PQ_MORE("result", "result") \
    TG_PQ_MORE("output", "CASE state WHEN 1 THEN $13 ELSE output END")

/* Whole ones, with what their results are; arrays of ids, and of tasks. */
#define TG_PQ_TELL(more) \
    "id::text,state::text," TG_PQ_WHOLE more "'}',form::text FROM "
#define TG_PQ_LIST(what, filter) \
    "'['||coalesce(string_agg(" what ",',' ORDER BY id)" filter ",'')||']'"
#define TG_PQ_IDS TG_PQ_LIST(TG_PQ_ID, "")
#define TG_PQ_ENDED_OPEN \
    "'{\"id\":'||" TG_PQ_ID "||',\"agent\":\"'||agent||'\"'||" \
    TG_PQ_MORE("owner", "to_json(owner)::text")
#define TG_PQ_ENDED(filter) TG_PQ_LIST(TG_PQ_ENDED_OPEN "'}'", filter)
#define TG_PQ_FAILED(filter) TG_PQ_LIST(TG_PQ_ENDED_OPEN \
    TG_PQ_MORE("error", "error") "'}'", filter)
#define TG_PQ_OWNED "($20 IS NULL OR owner=$20)"

/* --- leases --- */

#define TG_PQ_LEASE "now()+$4*interval '1 millisecond'"
#define TG_PQ_MINE "place=$17 AND incarnation=$16"
#define TG_PQ_THEN \
    "CASE WHEN is_cancelled THEN 4 WHEN tries<retry THEN 0 ELSE 3 END"

/* What becomes of a task that is interrupted. */
#define TG_PQ_INTERRUPT(error) \
    "UPDATE toolgate_task SET state=" TG_PQ_THEN ",tries=tries+1," \
    "started_at=CASE " TG_PQ_THEN " WHEN 0 THEN NULL ELSE started_at END," \
    "completed_at=CASE " TG_PQ_THEN " WHEN 0 THEN NULL ELSE $1 END," \
    "error=CASE " TG_PQ_THEN " WHEN 3 THEN " error " END," \
    "job=CASE " TG_PQ_THEN " WHEN 0 THEN job END," \
    "runner=NULL,is_cancelled=false,"

/*
 * Whoever has not renewed its lease loses it: from the moment that this is
 * committed it can take nothing, and what it ran is somebody else's.
 */
#define TG_PQ_SWEEP(whose) \
    "late AS (SELECT place,incarnation FROM toolgate_runner" \
    " WHERE until<now() AND place<>$17 AND incarnation IS NOT NULL" \
    " FOR UPDATE SKIP LOCKED)," \
    "gone AS (UPDATE toolgate_runner r SET incarnation=NULL FROM late" \
    " WHERE r.place=late.place)," \
    "lost AS (" TG_PQ_INTERRUPT( \
        "CASE WHEN runner IN (SELECT incarnation FROM late)" \
        " THEN '\"" TG_STORE_LEASE_LOST "\"' ELSE $12 END") \
    "op=NULL WHERE state=1" \
    " AND (runner IN (SELECT incarnation FROM late)" whose ")" \
    " RETURNING id,state,agent,owner,error)"
#define TG_PQ_LOST \
    "'{\"queued\":'||(SELECT " TG_PQ_ENDED(" FILTER (WHERE state=0)") \
    " FROM lost)||',\"failed\":'||(SELECT " \
    TG_PQ_FAILED(" FILTER (WHERE state=3)") " FROM lost)"

/*
 * A place is one runner's.  It is taken over from one that has ended: the lock
 * of its connection is free, or its lease is over.
 */
static const char tg_pq_open[] =
    "WITH old AS (SELECT incarnation,until>now() AND NOT"
    " pg_try_advisory_xact_lock(hashtextextended(incarnation,0)) AS lives"
    " FROM toolgate_runner WHERE place=$17 AND incarnation<>$16 FOR UPDATE),"
    "mine AS (INSERT INTO toolgate_runner(place,incarnation,agents,until)"
    " SELECT $17,$16,$14," TG_PQ_LEASE
    " WHERE NOT EXISTS (SELECT FROM old WHERE lives)"
    " ON CONFLICT (place) DO UPDATE SET incarnation=$16,agents=$14,"
    "until=" TG_PQ_LEASE " RETURNING place),"
    TG_PQ_SWEEP(" OR runner=$16"
                " OR runner IN (SELECT incarnation FROM old WHERE NOT lives)")
    " SELECT CASE WHEN EXISTS (SELECT FROM mine) THEN 'OK' ELSE 'BAD' END,"
    "'0','0',CASE WHEN EXISTS (SELECT FROM mine) THEN " TG_PQ_LOST "||'}'"
    " ELSE 'another toolgate-runner that is called '||$17||' has it open; give"
    " each machine a host name of its own, and each NGINX of a machine a"
    " tool_state_dir' END";

static const char tg_pq_beat[] =
    "WITH mine AS (UPDATE toolgate_runner SET agents=$14,until=" TG_PQ_LEASE
    " WHERE " TG_PQ_MINE " RETURNING place),"
    TG_PQ_SWEEP("")
    " SELECT 'OK','0','0'," TG_PQ_LOST "||',\"cancel\":'||(SELECT "
    TG_PQ_IDS " FROM toolgate_task WHERE state=1 AND runner=$16"
    " AND is_cancelled)||'}' FROM mine";

/* --- tasks --- */

/* Notes are of a place; what is new must not be there. */
#define TG_PQ_NOTES \
    "notes AS (SELECT * FROM json_to_recordset($23::json)" \
    " AS n(key text,value text,is_new bool))," \
    "there AS (SELECT FROM notes WHERE is_new AND key IN" \
    " (SELECT key FROM toolgate_note WHERE place=$17) LIMIT 1)"
#define TG_PQ_WRITE_NOTES(when) \
    "noted AS (INSERT INTO toolgate_note SELECT $17,key,value FROM notes" \
    " WHERE value IS NOT NULL AND " when \
    " ON CONFLICT (place,key) DO UPDATE SET value=excluded.value)," \
    "forgot AS (DELETE FROM toolgate_note WHERE place=$17 AND key IN" \
    " (SELECT key FROM notes WHERE value IS NULL) AND " when ")"

static const char tg_pq_note[] =
    "WITH " TG_PQ_NOTES ","
    TG_PQ_WRITE_NOTES("NOT EXISTS (SELECT FROM there)")
    "SELECT CASE WHEN EXISTS (SELECT FROM there) THEN 'EXISTS' ELSE 'OK' END,"
    "'0','0',''";

static const char tg_pq_notes[] =
    "SELECT 'OK','0','0','{'||coalesce(string_agg("
    "to_json(key)::text||':'||value,','),'')||'}' FROM toolgate_note"
    " WHERE place=$17";

/*
 * Has a list of agents this one, or the one that has all others' names?
 * As tg_store_is_agent_name().
 */
#define TG_PQ_HAS_AGENT(agents, name) \
    "(" name "=ANY(" agents ") OR ('*'=ANY(" agents ")" \
    " AND " name "~'^[A-Za-z0-9_-]{1,64}$'))"

/* In the order of an index, so that it counts none that do not wait. */
static const char tg_pq_submit[] =
    "WITH " TG_PQ_NOTES ","
    "known AS (SELECT FROM toolgate_runner WHERE "
    TG_PQ_HAS_AGENT("agents", "$8") " LIMIT 1),"
    "had AS (SELECT id FROM toolgate_task WHERE token=$18),"
    "room AS (SELECT count(*)<$4 AS is_left FROM"
    " (SELECT FROM toolgate_task WHERE state=0 ORDER BY priority DESC,id"
    " LIMIT $4) q),"
    "new AS (INSERT INTO toolgate_task(token,prompt,brief,agent,priority,"
    "state,created_at,cwd,metadata,owner,job)"
    " SELECT $18,$7,$11,$8,$3,0,$1,$9,$10,$20,$21 FROM room WHERE is_left"
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)"
    " AND NOT EXISTS (SELECT FROM there) RETURNING id),"
    TG_PQ_WRITE_NOTES("EXISTS (SELECT FROM new)")
    "SELECT 'OK',id::text,'0','' FROM (TABLE new UNION ALL TABLE had) o"
    " UNION ALL SELECT CASE WHEN is_left THEN 'EXISTS' ELSE 'LIMIT' END,"
    "'0','0','' FROM room WHERE (NOT is_left OR EXISTS (SELECT FROM there))"
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)";

/*
 * The agent of the first one first, so that no task is locked but that which
 * is taken.
 */
static const char tg_pq_claim[] =
    "WITH mine AS (SELECT agents FROM toolgate_runner WHERE " TG_PQ_MINE
    " AND until>now() FOR SHARE),"
    "best AS (SELECT name FROM (SELECT name,priority,id FROM unnest($14) name,"
    "LATERAL (SELECT priority,id FROM toolgate_task WHERE state=0 AND"
    " agent=name ORDER BY priority DESC,id LIMIT 1) f UNION ALL"
    " (SELECT agent,priority,id FROM toolgate_task WHERE state=0"
    " AND '*'=ANY($14) AND agent<>ALL(SELECT unnest(agents) FROM mine)"
    " AND " TG_PQ_HAS_AGENT("$14", "agent")
    " ORDER BY priority DESC,id LIMIT 1)) c"
    " ORDER BY priority DESC,id LIMIT 1),"
    "next AS (SELECT id FROM toolgate_task WHERE state=0"
    " AND agent=(SELECT name FROM best) AND EXISTS (SELECT FROM mine)"
    " AND NOT EXISTS (SELECT FROM toolgate_task WHERE op=$18)"
    " ORDER BY priority DESC,id LIMIT 1 FOR UPDATE SKIP LOCKED),"
    "took AS (UPDATE toolgate_task t SET state=1,started_at=$1,runner=$16,"
    "op=$18,retry=$15[coalesce(array_position($14,agent),"
    "array_position($14,'*'))] FROM next"
    " WHERE t.id=next.id RETURNING t.*),"
    "clean AS (DELETE FROM toolgate_output WHERE task=(SELECT id FROM took))"
    "SELECT 'OK'," TG_PQ_TELL(TG_PQ_MORE("job", "job"))
    "(TABLE took UNION ALL SELECT * FROM toolgate_task WHERE op=$18) o"
    " UNION ALL SELECT 'AGAIN','0','0','','0' FROM best"
    " WHERE EXISTS (SELECT FROM mine) AND NOT EXISTS (SELECT FROM took)"
    " AND NOT EXISTS (SELECT FROM toolgate_task WHERE op=$18)";

static const char tg_pq_return[] =
    "WITH back AS (UPDATE toolgate_task SET state=0,started_at=NULL,"
    "runner=NULL,op=NULL WHERE id=$2 AND state=1 AND runner=$16)"
    "SELECT 'OK','0','0',''";

/* What has been done before, and was not heard of. */
#define TG_PQ_DONE \
    " WHERE id=$2 AND state=1 AND runner=$16 RETURNING id,state)" \
    "SELECT 'OK',id::text,state::text,'' FROM (TABLE done UNION ALL" \
    " SELECT id,state FROM toolgate_task WHERE id=$2 AND op=$18) o"

static const char tg_pq_finish[] =
    "WITH done AS (UPDATE toolgate_task SET state=$6,completed_at=$1,pid=$5,"
    "result=$11,error=$12,output=$13,form=$22,job=NULL,runner=NULL,op=$18"
    TG_PQ_DONE;

static const char tg_pq_interrupt[] =
    "WITH done AS (" TG_PQ_INTERRUPT("$12")
    "pid=CASE " TG_PQ_THEN " WHEN 0 THEN NULL ELSE $5 END,"
    "output=CASE " TG_PQ_THEN " WHEN 0 THEN NULL ELSE $13 END,op=$18"
    TG_PQ_DONE;

/* Of one that runs, whoever runs it is to hear of it. */
static const char tg_pq_cancel[] =
    "WITH done AS (UPDATE toolgate_task SET state=4,completed_at=$1,job=NULL,"
    "op=$18 WHERE id=$2 AND state=0 AND " TG_PQ_OWNED " RETURNING *),"
    "wish AS (UPDATE toolgate_task SET is_cancelled=true"
    " WHERE id=$2 AND state=1 AND " TG_PQ_OWNED ")"
    "SELECT 'OK'," TG_PQ_TELL("") "done UNION ALL "
    "SELECT CASE WHEN state=1 THEN 'AGAIN' WHEN op=$18 THEN 'OK' ELSE 'END'"
    " END," TG_PQ_TELL("") "toolgate_task WHERE id=$2 AND " TG_PQ_OWNED
    " AND NOT EXISTS (SELECT FROM done)";

static const char tg_pq_get[] =
    "SELECT 'OK'," TG_PQ_TELL("") "toolgate_task WHERE id=$2 AND " TG_PQ_OWNED;

/* How long it would be is known before any of it is read. */
static const char tg_pq_list[] =
    "WITH r AS MATERIALIZED (SELECT * FROM toolgate_task WHERE ($6=5 OR"
    " state=$6) AND ($8 IS NULL OR agent=$8) AND " TG_PQ_OWNED
    " ORDER BY id DESC LIMIT $4),"
    "s AS (SELECT count(*)>1 AND sum(300+octet_length(prompt)"
    "+octet_length(coalesce(metadata,''))+octet_length(coalesce(error,''))"
    "+octet_length(coalesce(cwd,'')))>" TG_PQ_NUMBER(TG_STORE_TOLD_MAX)
    " AS is_long FROM r)"
    "SELECT CASE WHEN is_long THEN 'LIMIT' ELSE 'OK' END,'0','0',"
    "CASE WHEN is_long THEN '' ELSE '['||coalesce((SELECT string_agg("
    TG_PQ_TASK "'}',',' ORDER BY id DESC) FROM r),'')||']' END FROM s";

#define TG_PQ_COUNT(name, state) \
    "',\"" name "\":'||count(*) FILTER (WHERE state=" state ")||"

static const char tg_pq_stats[] =
    "SELECT 'OK','0','0','{\"total\":'||count(*)||"
    TG_PQ_COUNT("queued", "0") TG_PQ_COUNT("running", "1")
    TG_PQ_COUNT("completed", "2") TG_PQ_COUNT("failed", "3")
    TG_PQ_COUNT("cancelled", "4") "'}'"
    " FROM toolgate_task WHERE " TG_PQ_OWNED;

static const char tg_pq_status[] =
    "SELECT 'OK','0','0','{\"queued\":'||"
    "(SELECT count(*) FROM toolgate_task WHERE state=0)||',\"tasks\":['||"
    "coalesce(string_agg('{\"id\":'||" TG_PQ_ID "||',\"prompt\":'||brief||"
    "',\"agent\":\"'||agent||'\",\"priority\":'||priority||'}',','"
    " ORDER BY priority DESC,id),'')||']}' FROM (SELECT * FROM toolgate_task"
    " WHERE state=0 AND " TG_PQ_OWNED " ORDER BY priority DESC,id LIMIT "
    TG_PQ_NUMBER(TG_STORE_STATUS_MAX) ") q";

/* An agent is gone when no place has it, whether its runner is there or not. */
static const char tg_pq_orphan[] =
    "WITH mine AS (UPDATE toolgate_runner SET agents=$14 WHERE " TG_PQ_MINE "),"
    "gone AS (UPDATE toolgate_task SET state=3,completed_at=$1,error=$12,"
    "job=NULL WHERE id IN (SELECT id FROM toolgate_task t WHERE state=0"
    " AND NOT " TG_PQ_HAS_AGENT("$14", "agent")
    " AND NOT EXISTS (SELECT FROM toolgate_runner r WHERE r.place<>$17"
    " AND " TG_PQ_HAS_AGENT("r.agents", "t.agent") ") FOR UPDATE SKIP LOCKED)"
    " RETURNING id,agent,owner)"
    "SELECT 'OK','0','0'," TG_PQ_ENDED("") " FROM gone";

/* Places, too, that nobody has come back to. */
static const char tg_pq_purge[] =
    "WITH gone AS (DELETE FROM toolgate_runner WHERE incarnation IS NULL"
    " AND until<now()-$4*interval '1 millisecond'),"
    "old AS (DELETE FROM toolgate_task WHERE id IN (SELECT id FROM"
    " toolgate_task WHERE completed_at<$1-$4 ORDER BY completed_at,id"
    " LIMIT " TG_PQ_NUMBER(TG_STORE_PURGE_MAX)
    " FOR UPDATE SKIP LOCKED) RETURNING id)"
    "SELECT 'OK','0','0'," TG_PQ_IDS " FROM old";

/* --- what others hear, and outputs --- */

static const char tg_pq_tell[] =
    "SELECT 'OK','0','0',"
    "pg_notify(left('toolgate_'||current_schema(),63),$10)::text";

static const char tg_pq_write[] =
    "WITH old AS (DELETE FROM toolgate_output WHERE task=$2"
    " AND at+octet_length(bytes)<=$3+octet_length($19)-$4),"
    "new AS (INSERT INTO toolgate_output SELECT id,$3,$19 FROM toolgate_task"
    " WHERE id=$2 AND state=1 AND runner=$16 ON CONFLICT DO NOTHING)"
    "SELECT 'OK','0','0',''";

static const char tg_pq_read_output[] =
    "WITH s AS (SELECT coalesce(min(at),0) AS first,"
    "coalesce(max(at+octet_length(bytes)),0) AS size FROM toolgate_output"
    " WHERE task=$2),"
    "o AS (SELECT least(greatest($3,first),size) AS at,size FROM s)"
    "SELECT 'OK',o.at::text,o.size::text,(SELECT substring(string_agg("
    "p.bytes,''::bytea ORDER BY p.at) FROM (o.at-min(p.at))::int+1 FOR "
    TG_PQ_NUMBER(TG_STORE_READ_MAX) ") FROM toolgate_output p"
    " WHERE p.task=$2 AND p.at<o.at+" TG_PQ_NUMBER(TG_STORE_READ_MAX)
    " AND p.at+octet_length(p.bytes)>o.at) FROM o";

/* --- the beginning --- */

const char tg_pq_setup[] =
    /* One after the other, and each sees what the one before has done. */
    "SELECT pg_advisory_xact_lock(1413960779);"
    "DO $do$ DECLARE v int; BEGIN"
    " IF to_regclass('toolgate_store') IS NULL THEN"
    "  CREATE TABLE toolgate_store(version int NOT NULL);"
    "  INSERT INTO toolgate_store VALUES(0);"
    " END IF;"
    " SELECT version INTO v FROM toolgate_store;"
    " IF v>" TG_PQ_NUMBER(TG_PQ_VERSION) " THEN"
    "  RAISE EXCEPTION 'its tables are of a newer Toolgate';"
    " END IF;"
    /* A step a version; one that has landed never changes. */
    " IF v<1 THEN"
    "  CREATE TABLE toolgate_task("
    "   id bigint GENERATED BY DEFAULT AS IDENTITY"
    "   (MINVALUE 0 START 0) PRIMARY KEY,"
    "   token text NOT NULL UNIQUE, op text, prompt text NOT NULL,"
    "   brief text NOT NULL, agent text NOT NULL, priority int NOT NULL,"
    "   state smallint NOT NULL, created_at bigint NOT NULL,"
    "   started_at bigint, completed_at bigint, pid bigint, result text,"
    "   error text, output text, cwd text, metadata text,"
    "   tries int NOT NULL DEFAULT 0, retry int NOT NULL DEFAULT 0,"
    "   runner text, is_cancelled bool NOT NULL DEFAULT false,"
    "   owner text, job text, form int NOT NULL DEFAULT 0);"
    "  CREATE INDEX ON toolgate_task(agent,priority DESC,id) WHERE state=0;"
    "  CREATE INDEX ON toolgate_task(priority DESC,id) WHERE state=0;"
    "  CREATE INDEX ON toolgate_task(runner) WHERE state=1;"
    "  CREATE INDEX ON toolgate_task(state,id);"
    "  CREATE INDEX ON toolgate_task(agent,id);"
    "  CREATE INDEX ON toolgate_task(owner,id);"
    "  CREATE INDEX ON toolgate_task(completed_at)"
    "   WHERE completed_at IS NOT NULL;"
    "  CREATE UNIQUE INDEX ON toolgate_task(op) WHERE op IS NOT NULL;"
    "  CREATE TABLE toolgate_runner(place text PRIMARY KEY,"
    "   incarnation text UNIQUE, agents text[] NOT NULL,"
    "   until timestamptz NOT NULL);"
    "  CREATE TABLE toolgate_output("
    "   task bigint NOT NULL REFERENCES toolgate_task ON DELETE CASCADE,"
    "   at bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY(task,at));"
    "  CREATE TABLE toolgate_note(place text NOT NULL, key text NOT NULL,"
    "   value text NOT NULL, PRIMARY KEY(place,key));"
    " END IF;"
    " UPDATE toolgate_store SET version=" TG_PQ_NUMBER(TG_PQ_VERSION)
    "  WHERE version<" TG_PQ_NUMBER(TG_PQ_VERSION) ";"
    " EXECUTE format('LISTEN %I',left('toolgate_'||current_schema(),63));"
    "END $do$";

const char tg_pq_is_open[] =
    "SELECT CASE WHEN getdatabaseencoding()<>'UTF8' THEN"
    " 'the database has the encoding '||getdatabaseencoding()||'; make one"
    " with UTF8 (createdb -E UTF8 -T template0)'"
    " WHEN pg_is_in_recovery() THEN"
    " 'the server is a standby, which cannot be written to'"
    " WHEN current_schema() IS NULL THEN"
    " 'there is no schema that this user may use; see search_path'"
    " WHEN to_regclass('toolgate_store') IS NULL"
    " AND NOT has_schema_privilege(current_schema(),'CREATE') THEN"
    " 'this user may not make tables in the schema '||current_schema()||"
    "'; GRANT CREATE ON SCHEMA, or choose another one with search_path' END";

const char tg_pq_is_newer[] =
    "SELECT CASE WHEN version>" TG_PQ_NUMBER(TG_PQ_VERSION)
    " THEN 'its tables have version '||version||', of a newer Toolgate, and"
    " this one knows version " TG_PQ_NUMBER(TG_PQ_VERSION) "; install the newer"
    " one again, or choose another database or schema with task_store' END"
    " FROM toolgate_store";

const char tg_pq_sign[] = "SELECT pg_try_advisory_lock(hashtextextended($1,0))";

/* clang-format on */

/* --- which --- */

int
tg_pq_statement(const tg_store_ask_t *ask)
{
    return ask->op == TG_STORE_FINISH && ask->state == TG_TASK_QUEUED
               ? TG_PQ_INTERRUPTED
               : (int) ask->op;
}

int
tg_pq_is_ready(int statement)
{
    return statement != TG_STORE_LIST && statement != TG_STORE_STATS
           && statement != TG_STORE_STATUS;
}

const char *
tg_pq_text(int statement)
{
    static const char *const texts[TG_PQ_STATEMENTS] = {
        [TG_STORE_OPEN] = tg_pq_open,
        [TG_STORE_SUBMIT] = tg_pq_submit,
        [TG_STORE_CLAIM] = tg_pq_claim,
        [TG_STORE_RETURN] = tg_pq_return,
        [TG_STORE_FINISH] = tg_pq_finish,
        [TG_STORE_CANCEL] = tg_pq_cancel,
        [TG_STORE_GET] = tg_pq_get,
        [TG_STORE_LIST] = tg_pq_list,
        [TG_STORE_STATS] = tg_pq_stats,
        [TG_STORE_STATUS] = tg_pq_status,
        [TG_STORE_ORPHAN] = tg_pq_orphan,
        [TG_STORE_PURGE] = tg_pq_purge,
        [TG_STORE_BEAT] = tg_pq_beat,
        [TG_STORE_TELL] = tg_pq_tell,
        [TG_STORE_WRITE] = tg_pq_write,
        [TG_STORE_READ] = tg_pq_read_output,
        [TG_STORE_NOTE] = tg_pq_note,
        [TG_STORE_NOTES] = tg_pq_notes,
        [TG_PQ_INTERRUPTED] = tg_pq_interrupt,
    };

    return texts[statement];
}
