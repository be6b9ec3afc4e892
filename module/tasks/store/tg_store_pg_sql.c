/*
 * SQL of the PostgreSQL task store. All statements take the same values:
 *
 *   $1 now       $2 id        $3 priority or offset   $4 limit
 *   $5 pid       $6 state     $7 prompt   $8 agent    $9 cwd
 *   $10 metadata $11 result, or the beginning of a prompt
 *   $12 error    $13 output   $14 agents  $15 retries of the agents
 *   $16 id of this runner     $17 name of this runner (its place)
 *   $18 token or serial number of the query           $19 bytes
 *   $20 owner    $21 job      $22 result format       $23 records
 *
 * Free texts are JSON strings, because a text of PostgreSQL cannot contain a
 * NUL. A result row has the name of a TG_* code without the prefix, an id, a
 * state and the JSON result; a task has its result format, too. No row means
 * TG_MISSING or TG_END.
 */
#include "tasks/store/tg_store_pg.h"

/* --- JSON of tasks --- */

/* The SQL below is formatted by hand. */
/* clang-format off */

#define TG_PG_JSON_ID \
    "'\"task-'||lpad(id::text,greatest(4,length(id::text)),'0')||'\"'"
#define TG_PG_STATE_NAME \
    "(ARRAY['queued','running','completed','failed','cancelled'])[state+1]"
#define TG_PG_JSON_MEMBER(key, value) \
    "',\"" key "\":'||coalesce(" value ",'null')||"
#define TG_PG_JSON_TIME(key, ms) TG_PG_JSON_MEMBER(key, \
    "'\"'||to_char(to_timestamp(" ms "/1000.0) AT TIME ZONE 'UTC'," \
    "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')||'\"'")

/*
 * JSON string of the host name of the runner that runs the task. A place begins
 * with the host name.
 */
#define TG_PG_TASK_MACHINE \
    "(SELECT to_json(split_part(r.place,':',1))::text FROM toolgate_runner r" \
    " WHERE state=1 AND r.incarnation=runner)"

/* JSON of a task without result, output and the closing brace. */
#define TG_PG_JSON_TASK_BRIEF \
    "'{\"id\":'||" TG_PG_JSON_ID "||',\"prompt\":'||prompt||" \
    "',\"agent\":\"'||agent||'\",\"priority\":'||priority||" \
    "',\"state\":\"'||" TG_PG_STATE_NAME "||'\"'||" \
    TG_PG_JSON_TIME("createdAt", "created_at") \
    TG_PG_JSON_TIME("startedAt", "started_at") \
    TG_PG_JSON_TIME("completedAt", "completed_at") \
    TG_PG_JSON_MEMBER("pid", \
               "nullif(CASE state WHEN 1 THEN $5::bigint END,0)::text") \
    TG_PG_JSON_MEMBER("machine", TG_PG_TASK_MACHINE) \
    TG_PG_JSON_MEMBER("error", "error") \
    TG_PG_JSON_MEMBER("cwd", "cwd") \
    TG_PG_JSON_MEMBER("owner", "to_json(owner)::text") \
    TG_PG_JSON_MEMBER("metadata", "metadata,'{}'")
#define TG_PG_JSON_TASK \
    TG_PG_JSON_TASK_BRIEF \
    TG_PG_JSON_MEMBER("result", "result") \
    TG_PG_JSON_MEMBER("output", "CASE state WHEN 1 THEN $13 ELSE output END")

/* Result columns after the code for a whole task, up to FROM. */
#define TG_PG_RETURN_TASK(more) \
    "id::text,state::text," TG_PG_JSON_TASK more "'}',form::text FROM "
#define TG_PG_JSON_ARRAY(what, filter) \
    "'['||coalesce(string_agg(" what ",',' ORDER BY id)" filter ",'')||']'"
#define TG_PG_JSON_IDS TG_PG_JSON_ARRAY(TG_PG_JSON_ID, "")
#define TG_PG_JSON_ENDED_TASK \
    "'{\"id\":'||" TG_PG_JSON_ID "||',\"agent\":\"'||agent||'\"'||" \
    TG_PG_JSON_MEMBER("owner", "to_json(owner)::text")
#define TG_PG_JSON_ENDED_TASKS(filter) \
    TG_PG_JSON_ARRAY(TG_PG_JSON_ENDED_TASK "'}'", filter)
#define TG_PG_JSON_FAILED_TASKS(filter) TG_PG_JSON_ARRAY(TG_PG_JSON_ENDED_TASK \
    TG_PG_JSON_MEMBER("error", "error") "'}'", filter)
#define TG_PG_IS_OF_OWNER "($20 IS NULL OR owner=$20)"

/* --- leases --- */

#define TG_PG_LEASE_END "now()+$4*interval '1 millisecond'"
#define TG_PG_IS_OWN_LEASE "place=$17 AND incarnation=$16"
#define TG_PG_NEXT_STATE \
    "CASE WHEN is_cancelled THEN 4 WHEN tries<retry THEN 0 ELSE 3 END"

/*
 * Interrupts tasks: the beginning of an UPDATE. The next state is cancelled,
 * queued again or failed.
 */
#define TG_PG_INTERRUPT_TASK(error) \
    "UPDATE toolgate_task SET state=" TG_PG_NEXT_STATE ",tries=tries+1," \
    "started_at=CASE " TG_PG_NEXT_STATE " WHEN 0 THEN NULL" \
    " ELSE started_at END," \
    "completed_at=CASE " TG_PG_NEXT_STATE " WHEN 0 THEN NULL ELSE $1 END," \
    "error=CASE " TG_PG_NEXT_STATE " WHEN 3 THEN " error " END," \
    "job=CASE " TG_PG_NEXT_STATE " WHEN 0 THEN job END," \
    "runner=NULL,is_cancelled=false,"

/*
 * Takes the lease from each runner that has not renewed its lease in time.
 * After the commit that runner can claim no task, and the tasks that it ran are
 * interrupted.
 */
#define TG_PG_EXPIRE_LEASES(whose) \
    "late AS (SELECT place,incarnation FROM toolgate_runner" \
    " WHERE until<now() AND place<>$17 AND incarnation IS NOT NULL" \
    " FOR UPDATE SKIP LOCKED)," \
    "gone AS (UPDATE toolgate_runner r SET incarnation=NULL FROM late" \
    " WHERE r.place=late.place)," \
    "lost AS (" TG_PG_INTERRUPT_TASK( \
        "CASE WHEN runner IN (SELECT incarnation FROM late)" \
        " THEN '\"" TG_STORE_LEASE_LOST "\"' ELSE $12 END") \
    "op=NULL WHERE state=1" \
    " AND (runner IN (SELECT incarnation FROM late)" whose ")" \
    " RETURNING id,state,agent,owner,error)"
#define TG_PG_JSON_LOST_TASKS \
    "'{\"queued\":'||(SELECT " \
    TG_PG_JSON_ENDED_TASKS(" FILTER (WHERE state=0)") \
    " FROM lost)||',\"failed\":'||(SELECT " \
    TG_PG_JSON_FAILED_TASKS(" FILTER (WHERE state=3)") " FROM lost)"

/*
 * A place belongs to one runner. A runner takes over the place of a runner that
 * has ended: the lock of its connection is free, or its lease has expired.
 */
static const char tg_pg_open_sql[] =
    "WITH old AS (SELECT incarnation,until>now() AND NOT"
    " pg_try_advisory_xact_lock(hashtextextended(incarnation,0)) AS lives"
    " FROM toolgate_runner WHERE place=$17 AND incarnation<>$16 FOR UPDATE),"
    "mine AS (INSERT INTO toolgate_runner(place,incarnation,agents,until)"
    " SELECT $17,$16,$14," TG_PG_LEASE_END
    " WHERE NOT EXISTS (SELECT FROM old WHERE lives)"
    " ON CONFLICT (place) DO UPDATE SET incarnation=$16,agents=$14,"
    "until=" TG_PG_LEASE_END " RETURNING place),"
    TG_PG_EXPIRE_LEASES(" OR runner=$16"
                " OR runner IN (SELECT incarnation FROM old WHERE NOT lives)")
    " SELECT CASE WHEN EXISTS (SELECT FROM mine) THEN 'OK' ELSE 'BAD' END,"
    "'0','0',CASE WHEN EXISTS (SELECT FROM mine) THEN "
    TG_PG_JSON_LOST_TASKS "||'}'"
    " ELSE 'another toolgate-runner named '||$17||' has it open; give each"
    " machine its own host name, and each NGINX of a machine its own"
    " tool_state_dir' END";

static const char tg_pg_renew_lease_sql[] =
    "WITH mine AS (UPDATE toolgate_runner SET agents=$14,until=" TG_PG_LEASE_END
    " WHERE " TG_PG_IS_OWN_LEASE " RETURNING place),"
    TG_PG_EXPIRE_LEASES("")
    " SELECT 'OK','0','0'," TG_PG_JSON_LOST_TASKS "||',\"cancel\":'||(SELECT "
    TG_PG_JSON_IDS " FROM toolgate_task WHERE state=1 AND runner=$16"
    " AND is_cancelled)||'}' FROM mine";

/* --- tasks --- */

/*
 * Records belong to a place. `there` has a row if a record that must be new
 * exists.
 */
#define TG_PG_INPUT_RECORDS \
    "notes AS (SELECT * FROM json_to_recordset($23::json)" \
    " AS n(key text,value text,is_new bool))," \
    "there AS (SELECT FROM notes WHERE is_new AND key IN" \
    " (SELECT key FROM toolgate_note WHERE place=$17) LIMIT 1)"
#define TG_PG_WRITE_RECORDS(when) \
    "noted AS (INSERT INTO toolgate_note SELECT $17,key,value FROM notes" \
    " WHERE value IS NOT NULL AND " when \
    " ON CONFLICT (place,key) DO UPDATE SET value=excluded.value)," \
    "forgot AS (DELETE FROM toolgate_note WHERE place=$17 AND key IN" \
    " (SELECT key FROM notes WHERE value IS NULL) AND " when ")"

static const char tg_pg_write_records_sql[] =
    "WITH " TG_PG_INPUT_RECORDS ","
    TG_PG_WRITE_RECORDS("NOT EXISTS (SELECT FROM there)")
    "SELECT CASE WHEN EXISTS (SELECT FROM there) THEN 'EXISTS' ELSE 'OK' END,"
    "'0','0',''";

static const char tg_pg_read_records_sql[] =
    "SELECT 'OK','0','0','{'||coalesce(string_agg("
    "to_json(key)::text||':'||value,','),'')||'}' FROM toolgate_note"
    " WHERE place=$17";

/*
 * Checks whether a list of agents has this agent, or the catch-all agent, which
 * has all valid names, see tg_store_is_agent_name().
 */
#define TG_PG_HAS_AGENT(agents, name) \
    "(" name "=ANY(" agents ") OR ('*'=ANY(" agents ")" \
    " AND " name "~'^[A-Za-z0-9_-]{1,64}$'))"

/*
 * Submits a task. `room` counts queued tasks in the order of their partial
 * index, so that it reads no other tasks.
 */
static const char tg_pg_submit_sql[] =
    "WITH " TG_PG_INPUT_RECORDS ","
    "known AS (SELECT FROM toolgate_runner WHERE "
    TG_PG_HAS_AGENT("agents", "$8") " LIMIT 1),"
    "had AS (SELECT id FROM toolgate_task WHERE token=$18),"
    "room AS (SELECT count(*)<$4 AS is_left FROM"
    " (SELECT FROM toolgate_task WHERE state=0 ORDER BY priority DESC,id"
    " LIMIT $4) q),"
    "new AS (INSERT INTO toolgate_task(token,prompt,brief,agent,priority,"
    "state,created_at,cwd,metadata,owner,job)"
    " SELECT $18,$7,$11,$8,$3,0,$1,$9,$10,$20,$21 FROM room WHERE is_left"
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)"
    " AND NOT EXISTS (SELECT FROM there) RETURNING id),"
    TG_PG_WRITE_RECORDS("EXISTS (SELECT FROM new)")
    "SELECT 'OK',id::text,'0','' FROM (TABLE new UNION ALL TABLE had) o"
    " UNION ALL SELECT CASE WHEN is_left THEN 'EXISTS' ELSE 'LIMIT' END,"
    "'0','0','' FROM room WHERE (NOT is_left OR EXISTS (SELECT FROM there))"
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)";

/*
 * Claims a task. Selects the agent first and then its first task, so that only
 * the claimed task is locked.
 */
static const char tg_pg_claim_sql[] =
    "WITH mine AS (SELECT agents FROM toolgate_runner WHERE " TG_PG_IS_OWN_LEASE
    " AND until>now() FOR SHARE),"
    "best AS (SELECT name FROM (SELECT name,priority,id FROM unnest($14) name,"
    "LATERAL (SELECT priority,id FROM toolgate_task WHERE state=0 AND"
    " agent=name ORDER BY priority DESC,id LIMIT 1) f UNION ALL"
    " (SELECT agent,priority,id FROM toolgate_task WHERE state=0"
    " AND '*'=ANY($14) AND agent<>ALL(SELECT unnest(agents) FROM mine)"
    " AND " TG_PG_HAS_AGENT("$14", "agent")
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
    "SELECT 'OK'," TG_PG_RETURN_TASK(TG_PG_JSON_MEMBER("job", "job"))
    "(TABLE took UNION ALL SELECT * FROM toolgate_task WHERE op=$18) o"
    " UNION ALL SELECT 'AGAIN','0','0','','0' FROM best"
    " WHERE EXISTS (SELECT FROM mine) AND NOT EXISTS (SELECT FROM took)"
    " AND NOT EXISTS (SELECT FROM toolgate_task WHERE op=$18)";

static const char tg_pg_requeue_sql[] =
    "WITH back AS (UPDATE toolgate_task SET state=0,started_at=NULL,"
    "runner=NULL,op=NULL WHERE id=$2 AND state=1 AND runner=$16)"
    "SELECT 'OK','0','0',''";

/*
 * End of an UPDATE that ends a task. If the query was executed before and its
 * result was lost, this returns the result again.
 */
#define TG_PG_FINISH_OR_REPEAT \
    " WHERE id=$2 AND state=1 AND runner=$16 RETURNING id,state)" \
    "SELECT 'OK',id::text,state::text,'' FROM (TABLE done UNION ALL" \
    " SELECT id,state FROM toolgate_task WHERE id=$2 AND op=$18) o"

static const char tg_pg_finish_sql[] =
    "WITH done AS (UPDATE toolgate_task SET state=$6,completed_at=$1,pid=$5,"
    "result=$11,error=$12,output=$13,form=$22,job=NULL,runner=NULL,op=$18"
    TG_PG_FINISH_OR_REPEAT;

static const char tg_pg_interrupt_sql[] =
    "WITH done AS (" TG_PG_INTERRUPT_TASK("$12")
    "pid=CASE " TG_PG_NEXT_STATE " WHEN 0 THEN NULL ELSE $5 END,"
    "output=CASE " TG_PG_NEXT_STATE " WHEN 0 THEN NULL ELSE $13 END,op=$18"
    TG_PG_FINISH_OR_REPEAT;

/*
 * Cancels a queued task. A running task gets is_cancelled, which its runner
 * reads when it renews its lease.
 */
static const char tg_pg_cancel_sql[] =
    "WITH done AS (UPDATE toolgate_task SET state=4,completed_at=$1,job=NULL,"
    "op=$18 WHERE id=$2 AND state=0 AND " TG_PG_IS_OF_OWNER " RETURNING *),"
    "wish AS (UPDATE toolgate_task SET is_cancelled=true"
    " WHERE id=$2 AND state=1 AND " TG_PG_IS_OF_OWNER ")"
    "SELECT 'OK'," TG_PG_RETURN_TASK("") "done UNION ALL "
    "SELECT CASE WHEN state=1 THEN 'AGAIN' WHEN op=$18 THEN 'OK' ELSE 'END'"
    " END," TG_PG_RETURN_TASK("") "toolgate_task WHERE id=$2 AND "
    TG_PG_IS_OF_OWNER
    " AND NOT EXISTS (SELECT FROM done)";

static const char tg_pg_get_task_sql[] =
    "SELECT 'OK'," TG_PG_RETURN_TASK("") "toolgate_task WHERE id=$2 AND "
    TG_PG_IS_OF_OWNER;

/*
 * Lists tasks. Estimates the size of the list first, so that a list that is too
 * long is not built.
 */
static const char tg_pg_list_sql[] =
    "WITH r AS MATERIALIZED (SELECT * FROM toolgate_task WHERE ($6=5 OR"
    " state=$6) AND ($8 IS NULL OR agent=$8) AND " TG_PG_IS_OF_OWNER
    " ORDER BY id DESC LIMIT $4),"
    "s AS (SELECT count(*)>1 AND sum(300+octet_length(prompt)"
    "+octet_length(coalesce(metadata,''))+octet_length(coalesce(error,''))"
    "+octet_length(coalesce(cwd,'')))>" TG_PG_STRINGIFY(TG_STORE_LIST_BYTES_MAX)
    " AS is_long FROM r)"
    "SELECT CASE WHEN is_long THEN 'LIMIT' ELSE 'OK' END,'0','0',"
    "CASE WHEN is_long THEN '' ELSE '['||coalesce((SELECT string_agg("
    TG_PG_JSON_TASK_BRIEF "'}',',' ORDER BY id DESC) FROM r),'')||']' END"
    " FROM s";

#define TG_PG_JSON_COUNT(name, state) \
    "',\"" name "\":'||count(*) FILTER (WHERE state=" state ")||"

static const char tg_pg_stats_sql[] =
    "SELECT 'OK','0','0','{\"total\":'||count(*)||"
    TG_PG_JSON_COUNT("queued", "0") TG_PG_JSON_COUNT("running", "1")
    TG_PG_JSON_COUNT("completed", "2") TG_PG_JSON_COUNT("failed", "3")
    TG_PG_JSON_COUNT("cancelled", "4") "'}'"
    " FROM toolgate_task WHERE " TG_PG_IS_OF_OWNER;

static const char tg_pg_status_sql[] =
    "SELECT 'OK','0','0','{\"queued\":'||"
    "(SELECT count(*) FROM toolgate_task WHERE state=0)||',\"tasks\":['||"
    "coalesce(string_agg('{\"id\":'||" TG_PG_JSON_ID "||',\"prompt\":'||brief||"
    "',\"agent\":\"'||agent||'\",\"priority\":'||priority||'}',','"
    " ORDER BY priority DESC,id),'')||']}' FROM (SELECT * FROM toolgate_task"
    " WHERE state=0 AND " TG_PG_IS_OF_OWNER " ORDER BY priority DESC,id LIMIT "
    TG_PG_STRINGIFY(TG_STORE_STATUS_MAX) ") q";

/*
 * Fails queued tasks whose agent was removed: no place has the agent, whether
 * or not the runner of the place is alive.
 */
static const char tg_pg_fail_orphans_sql[] =
    "WITH mine AS (UPDATE toolgate_runner SET agents=$14 WHERE "
    TG_PG_IS_OWN_LEASE "),"
    "gone AS (UPDATE toolgate_task SET state=3,completed_at=$1,error=$12,"
    "job=NULL WHERE id IN (SELECT id FROM toolgate_task t WHERE state=0"
    " AND NOT " TG_PG_HAS_AGENT("$14", "agent")
    " AND NOT EXISTS (SELECT FROM toolgate_runner r WHERE r.place<>$17"
    " AND " TG_PG_HAS_AGENT("r.agents", "t.agent") ") FOR UPDATE SKIP LOCKED)"
    " RETURNING id,agent,owner)"
    "SELECT 'OK','0','0'," TG_PG_JSON_ENDED_TASKS("") " FROM gone";

/* Removes old tasks, and places that have had no runner for $4 ms. */
static const char tg_pg_purge_sql[] =
    "WITH gone AS (DELETE FROM toolgate_runner WHERE incarnation IS NULL"
    " AND until<now()-$4*interval '1 millisecond'),"
    "old AS (DELETE FROM toolgate_task WHERE id IN (SELECT id FROM"
    " toolgate_task WHERE completed_at<$1-$4 ORDER BY completed_at,id"
    " LIMIT " TG_PG_STRINGIFY(TG_STORE_PURGE_MAX)
    " FOR UPDATE SKIP LOCKED) RETURNING id)"
    "SELECT 'OK','0','0'," TG_PG_JSON_IDS " FROM old";

/* --- broadcasts and output --- */

static const char tg_pg_notify_sql[] =
    "SELECT 'OK','0','0',"
    "pg_notify(left('toolgate_'||current_schema(),63),$10)::text";

static const char tg_pg_write_output_sql[] =
    "WITH old AS (DELETE FROM toolgate_output WHERE task=$2"
    " AND at+octet_length(bytes)<=$3+octet_length($19)-$4),"
    "new AS (INSERT INTO toolgate_output SELECT id,$3,$19 FROM toolgate_task"
    " WHERE id=$2 AND state=1 AND runner=$16 ON CONFLICT DO NOTHING)"
    "SELECT 'OK','0','0',''";

static const char tg_pg_read_output_sql[] =
    "WITH s AS (SELECT coalesce(min(at),0) AS first,"
    "coalesce(max(at+octet_length(bytes)),0) AS size FROM toolgate_output"
    " WHERE task=$2),"
    "o AS (SELECT least(greatest($3,first),size) AS at,size FROM s)"
    "SELECT 'OK',o.at::text,o.size::text,(SELECT substring(string_agg("
    "p.bytes,''::bytea ORDER BY p.at) FROM (o.at-min(p.at))::int+1 FOR "
    TG_PG_STRINGIFY(TG_STORE_OUTPUT_READ_MAX) ") FROM toolgate_output p"
    " WHERE p.task=$2 AND p.at<o.at+" TG_PG_STRINGIFY(TG_STORE_OUTPUT_READ_MAX)
    " AND p.at+octet_length(p.bytes)>o.at) FROM o";

/* --- setup and checks --- */

const char tg_pg_setup_sql[] =
    /*
     * Runners that start at the same time run this one after the other, so that
     * each one sees the tables that another one created.
     */
    "SELECT pg_advisory_xact_lock(1413960779);"
    "DO $do$ DECLARE v int; BEGIN"
    " IF to_regclass('toolgate_store') IS NULL THEN"
    "  CREATE TABLE toolgate_store(version int NOT NULL);"
    "  INSERT INTO toolgate_store VALUES(0);"
    " END IF;"
    " SELECT version INTO v FROM toolgate_store;"
    " IF v>" TG_PG_STRINGIFY(TG_PG_VERSION) " THEN"
    "  RAISE EXCEPTION 'its tables are of a newer Toolgate';"
    " END IF;"
    /* One step for each version; a released step never changes. */
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
    " UPDATE toolgate_store SET version=" TG_PG_STRINGIFY(TG_PG_VERSION)
    "  WHERE version<" TG_PG_STRINGIFY(TG_PG_VERSION) ";"
    " EXECUTE format('LISTEN %I',left('toolgate_'||current_schema(),63));"
    "END $do$";

const char tg_pg_check_access_sql[] =
    "SELECT CASE WHEN getdatabaseencoding()<>'UTF8' THEN"
    " 'the database has the encoding '||getdatabaseencoding()||'; make one"
    " with UTF8 (createdb -E UTF8 -T template0)'"
    " WHEN pg_is_in_recovery() THEN"
    " 'the server is a standby, which is read-only'"
    " WHEN current_schema() IS NULL THEN"
    " 'there is no schema that this user may use; see search_path'"
    " WHEN to_regclass('toolgate_store') IS NULL"
    " AND NOT has_schema_privilege(current_schema(),'CREATE') THEN"
    " 'this user may not create tables in the schema '||current_schema()||"
    "'; GRANT CREATE ON SCHEMA, or choose another one with search_path' END";

const char tg_pg_check_version_sql[] =
    "SELECT CASE WHEN version>" TG_PG_STRINGIFY(TG_PG_VERSION)
    " THEN 'its tables have version '||version||' of a newer Toolgate, and"
    " this one supports version " TG_PG_STRINGIFY(TG_PG_VERSION) "; install the"
    " newer one again, or choose another database or schema with task_store'"
    " END"
    " FROM toolgate_store";

const char tg_pg_lock_runner_sql[] =
    "SELECT pg_try_advisory_lock(hashtextextended($1,0))";

/* clang-format on */

/* --- selection of a statement --- */

int
tg_pg_find_statement(const tg_store_query_t *query)
{
    return query->op == TG_STORE_FINISH && query->state == TG_TASK_QUEUED
               ? TG_PG_STATEMENT_INTERRUPT
               : (int) query->op;
}

int
tg_pg_is_prepared(int statement)
{
    return statement != TG_STORE_LIST && statement != TG_STORE_STATS
           && statement != TG_STORE_STATUS;
}

const char *
tg_pg_get_sql(int statement)
{
    static const char *const texts[TG_PG_STATEMENTS] = {
        [TG_STORE_OPEN] = tg_pg_open_sql,
        [TG_STORE_SUBMIT] = tg_pg_submit_sql,
        [TG_STORE_CLAIM] = tg_pg_claim_sql,
        [TG_STORE_REQUEUE] = tg_pg_requeue_sql,
        [TG_STORE_FINISH] = tg_pg_finish_sql,
        [TG_STORE_CANCEL] = tg_pg_cancel_sql,
        [TG_STORE_GET] = tg_pg_get_task_sql,
        [TG_STORE_LIST] = tg_pg_list_sql,
        [TG_STORE_STATS] = tg_pg_stats_sql,
        [TG_STORE_STATUS] = tg_pg_status_sql,
        [TG_STORE_FAIL_ORPHANS] = tg_pg_fail_orphans_sql,
        [TG_STORE_PURGE] = tg_pg_purge_sql,
        [TG_STORE_RENEW_LEASE] = tg_pg_renew_lease_sql,
        [TG_STORE_NOTIFY] = tg_pg_notify_sql,
        [TG_STORE_WRITE_OUTPUT] = tg_pg_write_output_sql,
        [TG_STORE_READ_OUTPUT] = tg_pg_read_output_sql,
        [TG_STORE_WRITE_RECORDS] = tg_pg_write_records_sql,
        [TG_STORE_READ_RECORDS] = tg_pg_read_records_sql,
        [TG_PG_STATEMENT_INTERRUPT] = tg_pg_interrupt_sql,
    };

    return texts[statement];
}
