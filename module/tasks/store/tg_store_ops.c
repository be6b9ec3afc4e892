/*
 * SQL of each store operation, for SQLite and for PostgreSQL, and the columns
 * of its rows. Text that both databases understand is written once.
 *
 * PostgreSQL stores free texts (prompt, cwd, result, error, output) as JSON
 * strings, because its texts cannot contain a NUL. Each operation is one
 * statement there: one round trip, and atomic without a transaction block.
 */
#include "tasks/store/tg_store_ops.h"

/* The SQL below is formatted by hand. */
/* clang-format off */

/* --- columns --- */

static const tg_store_column_t tg_store_task_columns[] = {
    { "id", TG_STORE_COLUMN_ID },
    { "prompt", TG_STORE_COLUMN_STRING },
    { "agent", TG_STORE_COLUMN_TEXT },
    { "priority", TG_STORE_COLUMN_NUMBER },
    { "state", TG_STORE_COLUMN_STATE },
    { "createdAt", TG_STORE_COLUMN_TIME },
    { "startedAt", TG_STORE_COLUMN_TIME },
    { "completedAt", TG_STORE_COLUMN_TIME },
    { "pid", TG_STORE_COLUMN_PID },
    { "machine", TG_STORE_COLUMN_SHARED },
    { "error", TG_STORE_COLUMN_STRING },
    { "cwd", TG_STORE_COLUMN_STRING },
    { "owner", TG_STORE_COLUMN_TEXT },
    { "metadata", TG_STORE_COLUMN_METADATA },
    { "result", TG_STORE_COLUMN_STRING },
    { "output", TG_STORE_COLUMN_OUTPUT },
    { "", TG_STORE_COLUMN_FORM },
    { "job", TG_STORE_COLUMN_JSON },
};

#define TG_TASK_BRIEF(machine) \
    "id,prompt,agent,priority,state,created_at,started_at,completed_at,pid," \
    machine ",error,cwd,owner,metadata"
#define TG_TASK_WHOLE(machine) TG_TASK_BRIEF(machine) ",result,output,form"

static const tg_store_column_t tg_store_ended_columns[] = {
    { "id", TG_STORE_COLUMN_ID },
    { "agent", TG_STORE_COLUMN_TEXT },
    { "owner", TG_STORE_COLUMN_TEXT },
};

static const tg_store_column_t tg_store_interrupted_columns[] = {
    { "", TG_STORE_COLUMN_GROUP },
    { "id", TG_STORE_COLUMN_ID },
    { "agent", TG_STORE_COLUMN_TEXT },
    { "owner", TG_STORE_COLUMN_TEXT },
    { "error", TG_STORE_COLUMN_OPTIONAL },
};

static const tg_store_column_t tg_store_stats_columns[] = {
    { "total", TG_STORE_COLUMN_NUMBER },
    { "queued", TG_STORE_COLUMN_NUMBER },
    { "running", TG_STORE_COLUMN_NUMBER },
    { "completed", TG_STORE_COLUMN_NUMBER },
    { "failed", TG_STORE_COLUMN_NUMBER },
    { "cancelled", TG_STORE_COLUMN_NUMBER },
};

static const tg_store_column_t tg_store_status_columns[] = {
    { "queued", TG_STORE_COLUMN_NUMBER },
    { "id", TG_STORE_COLUMN_ID },
    { "prompt", TG_STORE_COLUMN_STRING },
    { "agent", TG_STORE_COLUMN_TEXT },
    { "priority", TG_STORE_COLUMN_NUMBER },
};

static const tg_store_column_t tg_store_record_columns[] = {
    { "", TG_STORE_COLUMN_TEXT },
    { "", TG_STORE_COLUMN_JSON },
};

static const tg_store_column_t tg_store_state_column[] = {
    { "", TG_STORE_COLUMN_STATE },
};

static const tg_store_column_t tg_store_output_columns[] = {
    { "", TG_STORE_COLUMN_OFFSET },
    { "", TG_STORE_COLUMN_SIZE },
    { "", TG_STORE_COLUMN_TEXT },
};

/* --- SQL for both databases --- */

#define TG_IS_OF_OWNER "($owner IS NULL OR owner=$owner)"

/* `next` is the state after the interruption: queued, failed or cancelled. */
#define TG_INTERRUPT_TASK(task, next, error) \
    "UPDATE " task " SET state=" next ",tries=tries+1," \
    "started_at=CASE " next " WHEN 0 THEN NULL ELSE started_at END," \
    "completed_at=CASE " next " WHEN 0 THEN NULL ELSE $now END," \
    "error=CASE " next " WHEN 3 THEN " error " END," \
    "job=CASE " next " WHEN 0 THEN job END"
#define TG_INTERRUPT_ONE_TASK(next) \
    ",pid=CASE " next " WHEN 0 THEN NULL ELSE $pid END," \
    "output=CASE " next " WHEN 0 THEN NULL ELSE $output END"

#define TG_REQUEUE(task, more, where) \
    "UPDATE " task " SET state=0,started_at=NULL" more \
    " WHERE id=$id AND state=1" where

#define TG_FINISH(task) \
    "UPDATE " task " SET state=$state,completed_at=$now,pid=$pid," \
    "result=$result,error=$error,output=$output,form=$form,job=NULL"

#define TG_CANCEL(task) \
    "UPDATE " task " SET state=4,completed_at=$now,job=NULL"
#define TG_CANCEL_WHERE " WHERE id=$id AND state=0 AND " TG_IS_OF_OWNER

#define TG_GET(code, task, machine) \
    "SELECT " code "," TG_TASK_WHOLE(machine) " FROM " task \
    " WHERE id=$id AND " TG_IS_OF_OWNER

#define TG_COUNT(filter) ",CAST(coalesce(sum(n)" filter ",0) AS bigint)"
#define TG_COUNT_STATE(state) TG_COUNT(" FILTER (WHERE state=" state ")")
#define TG_STATS(counts) \
    "SELECT 'OK'" TG_COUNT("") TG_COUNT_STATE("0") TG_COUNT_STATE("1") \
    TG_COUNT_STATE("2") TG_COUNT_STATE("3") TG_COUNT_STATE("4") \
    " FROM (" counts ") c"

/* First queued tasks of the owner. */
#define TG_STATUS_TASKS(brief, task) \
    "id," brief ",agent,priority FROM " task " WHERE state=0 AND " \
    TG_IS_OF_OWNER " ORDER BY priority DESC,id LIMIT " \
    TG_STORE_STRINGIFY(TG_STORE_STATUS_MAX)

#define TG_PURGE(task, lock) \
    "DELETE FROM " task " WHERE id IN (SELECT id FROM " task \
    " WHERE completed_at<$now-$limit ORDER BY completed_at,id" \
    " LIMIT " TG_STORE_STRINGIFY(TG_STORE_PURGE_MAX) lock ")" \
    " RETURNING 'OK',id"

/* --- SQLite --- */

#define TG_SQLITE_NEXT_STATE "CASE WHEN tries<retry THEN 0 ELSE 3 END"
#define TG_SQLITE_INTERRUPT \
    TG_INTERRUPT_TASK("task", TG_SQLITE_NEXT_STATE, "$error")

/* Checks whether an array of names such as {a,b} has a name. */
#define TG_SQLITE_HAS_NAME(array, name) \
    "instr(','||trim(" array ",'{}')||',',','||" name "||',')>0"
#define TG_SQLITE_IS_ORPHAN \
    "state=0 AND NOT " TG_SQLITE_HAS_NAME("$all_agents", "agent") \
    " AND NOT (" TG_SQLITE_HAS_NAME("$all_agents", "'*'") \
    " AND agent NOT GLOB '*[^A-Za-z0-9_-]*' AND length(agent) BETWEEN 1 AND " \
    TG_STORE_STRINGIFY(TG_STORE_AGENT_NAME_MAX) ")"

/* A record that must be new is checked before the first write. */
#define TG_SQLITE_WRITE_RECORDS \
    "SELECT 'EXISTS' FROM note WHERE key=$key AND $is_new;" \
    "DELETE FROM note WHERE key=$key AND $value IS NULL;" \
    "INSERT INTO note SELECT $key,$value WHERE $value IS NOT NULL" \
    " ON CONFLICT(key) DO UPDATE SET value=excluded.value"

#define TG_SQLITE_FIRST " ORDER BY priority DESC,id LIMIT 1"

/* Position of an agent in $takers, which has agents and retries: ,a=2,b=0, */
#define TG_SQLITE_FIND_TAKER(name) "instr($takers,','||" name "||'=')"
#define TG_SQLITE_RETRY_OF(name) \
    "CAST(substr($takers," TG_SQLITE_FIND_TAKER(name) \
    "+length(" name ")+2) AS INTEGER)"

/* Checks whether the agent * runs the tasks of an agent. */
#define TG_SQLITE_IS_FOR_ANY \
    "agent NOT GLOB '*:*' AND NOT " TG_SQLITE_HAS_NAME("$all_agents", "agent")

/*
 * Claims a task: the first of the queue, or, if its agent takes no task, the
 * first of the first tasks of all agents that do, each found by its index.
 */
#define TG_SQLITE_CLAIM \
    "WITH RECURSIVE split(name,rest) AS (SELECT NULL,substr($takers,2)" \
    " UNION ALL SELECT substr(rest,1,instr(rest,'=')-1)," \
    "substr(rest,instr(rest,',')+1) FROM split WHERE rest<>'')" \
    "UPDATE task SET state=1,started_at=$now," \
    "retry=CASE " TG_SQLITE_FIND_TAKER("agent") " WHEN 0 THEN " \
    TG_SQLITE_RETRY_OF("'*'") " ELSE " TG_SQLITE_RETRY_OF("agent") " END" \
    " WHERE id=coalesce((SELECT id FROM (SELECT id,agent FROM task" \
    " INDEXED BY task_next WHERE state=0" TG_SQLITE_FIRST ")" \
    " WHERE " TG_SQLITE_FIND_TAKER("agent") ">0" \
    " OR (" TG_SQLITE_FIND_TAKER("'*'") ">0 AND " TG_SQLITE_IS_FOR_ANY "))," \
    "(SELECT t.id FROM split CROSS JOIN task t ON t.id=CASE name WHEN '*'" \
    " THEN (SELECT id FROM task INDEXED BY task_next WHERE state=0" \
    " AND " TG_SQLITE_IS_FOR_ANY TG_SQLITE_FIRST ")" \
    " ELSE (SELECT id FROM task WHERE state=0 AND agent=name" \
    TG_SQLITE_FIRST ") END ORDER BY t.priority DESC,t.id LIMIT 1))" \
    " RETURNING 'OK'," TG_TASK_WHOLE("NULL") ",job"

#define TG_SQLITE_LIST(where) \
    "SELECT 'OK'," TG_TASK_BRIEF("NULL") " FROM task " where \
    " ORDER BY id DESC LIMIT $limit"

const char *const tg_store_sqlite_lists[TG_STORE_FILTERS] = {
    TG_SQLITE_LIST(""),
    TG_SQLITE_LIST("WHERE agent=$agent"),
    TG_SQLITE_LIST("WHERE state=$state"),
    TG_SQLITE_LIST("WHERE agent=$agent AND state=$state"),
    TG_SQLITE_LIST("WHERE owner=$owner"),
    TG_SQLITE_LIST("WHERE owner=$owner AND agent=$agent"),
    TG_SQLITE_LIST("WHERE owner=$owner AND state=$state"),
    TG_SQLITE_LIST("WHERE owner=$owner AND agent=$agent AND state=$state"),
};

/* --- PostgreSQL --- */

/* Host name of the runner that runs the task. A place begins with it. */
#define TG_PG_MACHINE \
    "(SELECT split_part(r.place,':',1) FROM toolgate_runner r" \
    " WHERE state=1 AND r.incarnation=runner)"
#define TG_PG_TASK TG_TASK_WHOLE(TG_PG_MACHINE)

#define TG_PG_LEASE_END "now()+$limit*interval '1 millisecond'"
#define TG_PG_IS_OWN_LEASE "place=$place AND incarnation=$runner"
#define TG_PG_NEXT_STATE \
    "CASE WHEN is_cancelled THEN 4 WHEN tries<retry THEN 0 ELSE 3 END"
#define TG_PG_INTERRUPT(error) \
    TG_INTERRUPT_TASK("toolgate_task", TG_PG_NEXT_STATE, error) \
    ",runner=NULL,is_cancelled=false"

/*
 * Takes the lease from each runner that has not renewed its lease in time.
 * After the commit that runner can claim no task, and the tasks that it ran are
 * interrupted. `report` has the interrupted tasks by group.
 */
#define TG_PG_EXPIRE_LEASES(whose) \
    "late AS (SELECT place,incarnation FROM toolgate_runner" \
    " WHERE until<now() AND place<>$place AND incarnation IS NOT NULL" \
    " FOR UPDATE SKIP LOCKED)," \
    "gone AS (UPDATE toolgate_runner r SET incarnation=NULL FROM late" \
    " WHERE r.place=late.place)," \
    "lost AS (" TG_PG_INTERRUPT( \
        "CASE WHEN runner IN (SELECT incarnation FROM late)" \
        " THEN '\"" TG_STORE_LEASE_LOST "\"' ELSE $error END") \
    ",op=NULL WHERE state=1" \
    " AND (runner IN (SELECT incarnation FROM late)" whose ")" \
    " RETURNING id,state,agent,owner,error)," \
    "report AS (SELECT CASE state WHEN 0 THEN 0 ELSE 1 END AS part,id,agent," \
    "owner,error FROM lost WHERE state IN (0,3))"

/*
 * A place belongs to one runner. A runner takes over the place of a runner that
 * has ended: the lock of its connection is free, or its lease has expired.
 */
#define TG_PG_OPEN \
    "WITH old AS (SELECT incarnation,until>now() AND NOT" \
    " pg_try_advisory_xact_lock(hashtextextended(incarnation,0)) AS lives" \
    " FROM toolgate_runner WHERE place=$place AND incarnation<>$runner" \
    " FOR UPDATE)," \
    "mine AS (INSERT INTO toolgate_runner(place,incarnation,agents,until)" \
    " SELECT $place,$runner,$agents," TG_PG_LEASE_END \
    " WHERE NOT EXISTS (SELECT FROM old WHERE lives)" \
    " ON CONFLICT (place) DO UPDATE SET incarnation=$runner,agents=$agents," \
    "until=" TG_PG_LEASE_END " RETURNING place)," \
    TG_PG_EXPIRE_LEASES(" OR runner=$runner" \
                " OR runner IN (SELECT incarnation FROM old WHERE NOT lives)") \
    " SELECT 'OK',part,id,agent,owner,error FROM mine" \
    " LEFT JOIN report ON true UNION ALL SELECT 'BAD',0,0,NULL,NULL," \
    "'another toolgate-runner named '||$place||' has it open; give each" \
    " machine its own host name, and each NGINX of a machine its own" \
    " tool_state_dir' WHERE NOT EXISTS (SELECT FROM mine) ORDER BY 2,3"

#define TG_PG_RENEW_LEASE \
    "WITH mine AS (UPDATE toolgate_runner SET agents=$agents," \
    "until=" TG_PG_LEASE_END " WHERE " TG_PG_IS_OWN_LEASE " RETURNING place)," \
    TG_PG_EXPIRE_LEASES("") \
    " SELECT 'OK',part,id,agent,owner,error FROM mine LEFT JOIN" \
    " (TABLE report UNION ALL SELECT 2,id,agent,owner,NULL FROM toolgate_task" \
    " WHERE state=1 AND runner=$runner AND is_cancelled) r ON true" \
    " ORDER BY part,id"

/*
 * Records belong to a place. `there` has a row if a record that must be new
 * exists.
 */
#define TG_PG_INPUT_RECORDS \
    "notes AS (SELECT * FROM json_to_recordset($records::json)" \
    " AS n(key text,value text,is_new bool))," \
    "there AS (SELECT FROM notes WHERE is_new AND key IN" \
    " (SELECT key FROM toolgate_note WHERE place=$place) LIMIT 1)"
#define TG_PG_WRITE_RECORDS(when) \
    "noted AS (INSERT INTO toolgate_note SELECT $place,key,value FROM notes" \
    " WHERE value IS NOT NULL AND " when \
    " ON CONFLICT (place,key) DO UPDATE SET value=excluded.value)," \
    "forgot AS (DELETE FROM toolgate_note WHERE place=$place AND key IN" \
    " (SELECT key FROM notes WHERE value IS NULL) AND " when ")"

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
#define TG_PG_SUBMIT \
    "WITH " TG_PG_INPUT_RECORDS "," \
    "known AS (SELECT FROM toolgate_runner WHERE " \
    TG_PG_HAS_AGENT("agents", "$agent") " LIMIT 1)," \
    "had AS (SELECT id FROM toolgate_task WHERE token=$token)," \
    "room AS (SELECT count(*)<$limit AS is_left FROM" \
    " (SELECT FROM toolgate_task WHERE state=0 ORDER BY priority DESC,id" \
    " LIMIT $limit) q)," \
    "new AS (INSERT INTO toolgate_task(token,prompt,brief,agent,priority," \
    "state,created_at,cwd,metadata,owner,job)" \
    " SELECT $token,$prompt,$brief,$agent,$priority,0,$now,$cwd,$metadata," \
    "$owner,$job FROM room WHERE is_left" \
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)" \
    " AND NOT EXISTS (SELECT FROM there) RETURNING id)," \
    TG_PG_WRITE_RECORDS("EXISTS (SELECT FROM new)") \
    "SELECT 'OK',id FROM (TABLE new UNION ALL TABLE had) o" \
    " UNION ALL SELECT CASE WHEN is_left THEN 'EXISTS' ELSE 'LIMIT' END," \
    "NULL FROM room WHERE (NOT is_left OR EXISTS (SELECT FROM there))" \
    " AND EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM had)"

/*
 * Claims a task. Selects the agent first and then its first task, so that only
 * the claimed task is locked.
 */
#define TG_PG_CLAIM \
    "WITH mine AS (SELECT agents FROM toolgate_runner WHERE " \
    TG_PG_IS_OWN_LEASE " AND until>now() FOR SHARE)," \
    "best AS (SELECT name FROM (SELECT name,priority,id FROM" \
    " unnest($agents) name," \
    "LATERAL (SELECT priority,id FROM toolgate_task WHERE state=0 AND" \
    " agent=name ORDER BY priority DESC,id LIMIT 1) f UNION ALL" \
    " (SELECT agent,priority,id FROM toolgate_task WHERE state=0" \
    " AND '*'=ANY($agents) AND agent<>ALL(SELECT unnest(agents) FROM mine)" \
    " AND " TG_PG_HAS_AGENT("$agents", "agent") \
    " ORDER BY priority DESC,id LIMIT 1)) c" \
    " ORDER BY priority DESC,id LIMIT 1)," \
    "next AS (SELECT id FROM toolgate_task WHERE state=0" \
    " AND agent=(SELECT name FROM best) AND EXISTS (SELECT FROM mine)" \
    " AND NOT EXISTS (SELECT FROM toolgate_task WHERE op=$token)" \
    " ORDER BY priority DESC,id LIMIT 1 FOR UPDATE SKIP LOCKED)," \
    "took AS (UPDATE toolgate_task t SET state=1,started_at=$now," \
    "runner=$runner,op=$token,retry=$retries[coalesce(" \
    "array_position($agents,agent),array_position($agents,'*'))] FROM next" \
    " WHERE t.id=next.id RETURNING t.*)," \
    "clean AS (DELETE FROM toolgate_output WHERE task=(SELECT id FROM took))" \
    "SELECT CASE WHEN id IS NULL THEN 'AGAIN' ELSE 'OK' END," TG_PG_TASK \
    ",job FROM (SELECT EXISTS (SELECT FROM best) AND" \
    " EXISTS (SELECT FROM mine) AS is_contended) c LEFT JOIN (TABLE took" \
    " UNION ALL SELECT * FROM toolgate_task WHERE op=$token) o ON true" \
    " WHERE is_contended OR id IS NOT NULL"

/*
 * End of an UPDATE that ends a task. If the query was executed before and its
 * result was lost, this returns the result again.
 */
#define TG_PG_FINISH_OR_REPEAT \
    ",op=$token WHERE id=$id AND state=1 AND runner=$runner" \
    " RETURNING state)" \
    "SELECT 'OK',state FROM (TABLE done UNION ALL" \
    " SELECT state FROM toolgate_task WHERE id=$id AND op=$token) o"

/*
 * Cancels a queued task. A running task gets is_cancelled, which its runner
 * reads when it renews its lease.
 */
#define TG_PG_CANCEL \
    "WITH done AS (" TG_CANCEL("toolgate_task") ",op=$token" TG_CANCEL_WHERE \
    " RETURNING *)," \
    "wish AS (UPDATE toolgate_task SET is_cancelled=true" \
    " WHERE id=$id AND state=1 AND " TG_IS_OF_OWNER ")" \
    "SELECT 'OK'," TG_PG_TASK " FROM done UNION ALL " \
    TG_GET("CASE WHEN state=1 THEN 'AGAIN' WHEN op=$token THEN 'OK'" \
           " ELSE 'END' END", "toolgate_task", TG_PG_MACHINE) \
    " AND NOT EXISTS (SELECT FROM done)"

/*
 * Lists tasks. Estimates the size of the list first, so that a list that is too
 * long is not sent.
 */
#define TG_PG_LIST \
    "WITH r AS (SELECT * FROM toolgate_task WHERE ($state=5 OR" \
    " state=$state) AND ($agent IS NULL OR agent=$agent) AND " TG_IS_OF_OWNER \
    " ORDER BY id DESC LIMIT $limit)," \
    "s AS (SELECT count(*)>1 AND sum(300+octet_length(prompt)" \
    "+octet_length(coalesce(metadata,''))+octet_length(coalesce(error,''))" \
    "+octet_length(coalesce(cwd,'')))>" \
    TG_STORE_STRINGIFY(TG_STORE_LIST_BYTES_MAX) " AS is_long FROM r)" \
    "SELECT CASE WHEN is_long THEN 'LIMIT' ELSE 'OK' END," \
    TG_TASK_BRIEF(TG_PG_MACHINE) " FROM s LEFT JOIN r ON NOT is_long" \
    " ORDER BY id DESC"

/*
 * Fails queued tasks whose agent was removed: no runner in the table has the
 * agent, neither a live one nor one that has exited.
 */
#define TG_PG_FAIL_ORPHANS \
    "WITH mine AS (UPDATE toolgate_runner SET agents=$agents WHERE " \
    TG_PG_IS_OWN_LEASE ")," \
    "gone AS (UPDATE toolgate_task SET state=3,completed_at=$now," \
    "error=$error,job=NULL WHERE id IN" \
    " (SELECT id FROM toolgate_task t WHERE state=0" \
    " AND NOT " TG_PG_HAS_AGENT("$agents", "agent") \
    " AND NOT EXISTS (SELECT FROM toolgate_runner r WHERE r.place<>$place" \
    " AND " TG_PG_HAS_AGENT("r.agents", "t.agent") ") FOR UPDATE SKIP LOCKED)" \
    " RETURNING id,agent,owner)" \
    "SELECT 'OK',id,agent,owner FROM gone ORDER BY id"

#define TG_PG_READ_OUTPUT \
    "WITH s AS (SELECT coalesce(min(at),0) AS first," \
    "coalesce(max(at+octet_length(bytes)),0) AS size FROM toolgate_output" \
    " WHERE task=$id)," \
    "o AS (SELECT least(greatest($offset,first),size) AS at,size FROM s)" \
    "SELECT 'OK',o.at,o.size,(SELECT substring(string_agg(" \
    "p.bytes,''::bytea ORDER BY p.at) FROM (o.at-min(p.at))::int+1 FOR " \
    TG_STORE_STRINGIFY(TG_STORE_OUTPUT_READ_MAX) ") FROM toolgate_output p" \
    " WHERE p.task=$id" \
    " AND p.at<o.at+" TG_STORE_STRINGIFY(TG_STORE_OUTPUT_READ_MAX) \
    " AND p.at+octet_length(p.bytes)>o.at) FROM o"

/* --- operations --- */

const tg_store_operation_t tg_store_operations[TG_STORE_OPS] = {
    [TG_STORE_OPEN] = {
        TG_STORE_ROWS_GROUPS, TG_OK, tg_store_interrupted_columns,
        "SELECT 'OK',tries>=retry,id,agent,owner,NULL FROM task WHERE state=1"
        " ORDER BY 2,id;" TG_SQLITE_INTERRUPT " WHERE state=1",
        TG_PG_OPEN,
    },
    [TG_STORE_SUBMIT] = {
        TG_STORE_ROWS_NONE, TG_MISSING, tg_store_ended_columns,
        "SELECT 'DONE',id FROM task WHERE token=$token;"
        "SELECT 'LIMIT' FROM count WHERE state=0 AND n>=$limit;"
        TG_SQLITE_WRITE_RECORDS ";"
        "INSERT INTO task(prompt,agent,priority,cwd,metadata,owner,job,state,"
        "created_at,token) VALUES($prompt,$agent,$priority,$cwd,$metadata,"
        "$owner,$job,0,$now,$token) RETURNING 'OK',id",
        TG_PG_SUBMIT,
    },
    [TG_STORE_CLAIM] = {
        TG_STORE_ROWS_OBJECT, TG_END, tg_store_task_columns,
        TG_SQLITE_CLAIM,
        TG_PG_CLAIM,
    },
    [TG_STORE_REQUEUE] = {
        TG_STORE_ROWS_NONE, TG_OK, NULL,
        TG_REQUEUE("task", "", ""),
        TG_REQUEUE("toolgate_task", ",runner=NULL,op=NULL",
                   " AND runner=$runner"),
    },
    [TG_STORE_FINISH] = {
        TG_STORE_ROWS_NONE, TG_END, tg_store_state_column,
        TG_FINISH("task") " WHERE id=$id AND state=1 RETURNING 'OK',state",
        "WITH done AS (" TG_FINISH("toolgate_task") ",runner=NULL"
        TG_PG_FINISH_OR_REPEAT,
    },
    [TG_STORE_INTERRUPT] = {
        TG_STORE_ROWS_NONE, TG_END, tg_store_state_column,
        TG_SQLITE_INTERRUPT TG_INTERRUPT_ONE_TASK(TG_SQLITE_NEXT_STATE)
        " WHERE id=$id AND state=1 RETURNING 'OK',state",
        "WITH done AS (" TG_PG_INTERRUPT("$error")
        TG_INTERRUPT_ONE_TASK(TG_PG_NEXT_STATE) TG_PG_FINISH_OR_REPEAT,
    },
    [TG_STORE_CANCEL] = {
        TG_STORE_ROWS_OBJECT, TG_MISSING, tg_store_task_columns,
        TG_CANCEL("task") TG_CANCEL_WHERE
        " RETURNING 'DONE'," TG_TASK_WHOLE("NULL") ";"
        TG_GET("CASE state WHEN 1 THEN 'AGAIN' ELSE 'END' END", "task",
               "NULL"),
        TG_PG_CANCEL,
    },
    [TG_STORE_GET] = {
        TG_STORE_ROWS_OBJECT, TG_MISSING, tg_store_task_columns,
        TG_GET("'OK'", "task", "NULL"),
        TG_GET("'OK'", "toolgate_task", TG_PG_MACHINE),
    },
    [TG_STORE_LIST] = {
        TG_STORE_ROWS_LIST, TG_OK, tg_store_task_columns,
        "", /* tg_store_sqlite_lists */
        TG_PG_LIST,
    },
    [TG_STORE_STATS] = {
        TG_STORE_ROWS_OBJECT, TG_OK, tg_store_stats_columns,
        TG_STATS("SELECT state,n FROM count WHERE $owner IS NULL UNION ALL"
                 " SELECT state,n FROM owned WHERE owner=$owner"),
        TG_STATS("SELECT state,count(*) AS n FROM toolgate_task WHERE "
                 TG_IS_OF_OWNER " GROUP BY state"),
    },
    [TG_STORE_STATUS] = {
        TG_STORE_ROWS_STATUS, TG_OK, tg_store_status_columns,
        "SELECT 'OK',n,NULL FROM count WHERE state=0;"
        "SELECT 'OK',0," TG_STATUS_TASKS("substr(prompt,1,"
            TG_STORE_STRINGIFY(TG_STORE_PROMPT_PREVIEW_MAX) ")",
            "task INDEXED BY task_next"),
        "SELECT 'OK',n,q.* FROM"
        " (SELECT count(*) AS n FROM toolgate_task WHERE state=0) c"
        " LEFT JOIN (SELECT " TG_STATUS_TASKS("brief", "toolgate_task") ") q"
        " ON true ORDER BY priority DESC,id",
    },
    [TG_STORE_FAIL_ORPHANS] = {
        TG_STORE_ROWS_LIST, TG_OK, tg_store_ended_columns,
        "SELECT 'OK',id,agent,owner FROM task WHERE " TG_SQLITE_IS_ORPHAN
        " ORDER BY id;"
        "UPDATE task SET state=3,completed_at=$now,error=$error,job=NULL"
        " WHERE " TG_SQLITE_IS_ORPHAN,
        TG_PG_FAIL_ORPHANS,
    },
    /* PostgreSQL also removes places that had no runner for $limit ms. */
    [TG_STORE_PURGE] = {
        TG_STORE_ROWS_IDS, TG_OK, tg_store_ended_columns,
        TG_PURGE("task", ""),
        "WITH gone AS (DELETE FROM toolgate_runner WHERE incarnation IS NULL"
        " AND until<now()-$limit*interval '1 millisecond')"
        TG_PURGE("toolgate_task", " FOR UPDATE SKIP LOCKED"),
    },
    [TG_STORE_WRITE_RECORDS] = {
        TG_STORE_ROWS_NONE, TG_OK, NULL,
        TG_SQLITE_WRITE_RECORDS,
        "WITH " TG_PG_INPUT_RECORDS ","
        TG_PG_WRITE_RECORDS("NOT EXISTS (SELECT FROM there)")
        "SELECT 'EXISTS' FROM there",
    },
    [TG_STORE_READ_RECORDS] = {
        TG_STORE_ROWS_RECORDS, TG_OK, tg_store_record_columns,
        "SELECT 'OK',key,value FROM note",
        "SELECT 'OK',key,value FROM toolgate_note WHERE place=$place",
    },
    [TG_STORE_RENEW_LEASE] = {
        TG_STORE_ROWS_GROUPS, TG_END, tg_store_interrupted_columns, NULL,
        TG_PG_RENEW_LEASE,
    },
    [TG_STORE_NOTIFY] = {
        TG_STORE_ROWS_NONE, TG_OK, NULL, NULL,
        "SELECT 'OK' FROM pg_notify(left('toolgate_'||current_schema(),63),"
        "$metadata)",
    },
    [TG_STORE_WRITE_OUTPUT] = {
        TG_STORE_ROWS_NONE, TG_OK, NULL, NULL,
        "WITH old AS (DELETE FROM toolgate_output WHERE task=$id"
        " AND at+octet_length(bytes)<=$offset+octet_length($bytes)-$limit)"
        "INSERT INTO toolgate_output SELECT id,$offset,$bytes"
        " FROM toolgate_task WHERE id=$id AND state=1 AND runner=$runner"
        " ON CONFLICT DO NOTHING",
    },
    [TG_STORE_READ_OUTPUT] = {
        TG_STORE_ROWS_BYTES, TG_OK, tg_store_output_columns, NULL,
        TG_PG_READ_OUTPUT,
    },
};

/* clang-format on */
