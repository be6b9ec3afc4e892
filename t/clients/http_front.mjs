// An MCP server over HTTP in front of one over stdio: what the official
// conformance suite, which speaks HTTP only, needs to test that one. Each
// request of the modern era, and each session of the legacy era, has a process
// of its own. Arguments: the server's command. Prints its URL.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import readline from 'node:readline';

const META = 'io.modelcontextprotocol/protocolVersion';
const MODERN = '2026-07-28';
const [command, ...args] = process.argv.slice(2);
const sessions = new Map();

function json(res, status, body) {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(body));
}

function refuse(res, status, code, message, id) {
  json(res, status, { jsonrpc: '2.0', id, error: { code, message } });
}

// One connection to the server. Messages go to the request that they answer or
// belong to, otherwise to the newest one that is open, or to the stream.
class Server {
  constructor() {
    this.process = spawn(command, args,
      { stdio: ['pipe', 'pipe', 'inherit'] });
    this.open = new Map();
    readline.createInterface({ input: this.process.stdout })
      .on('line', line => this.receive(JSON.parse(line)));
  }

  send(message) {
    this.process.stdin.write(JSON.stringify(message) + '\n');
  }

  // receive(message, isLast) gets what belongs to the request.
  ask(message, receive) {
    const token = message.params?._meta?.progressToken;
    this.open.set(message.id, { token, receive });
    this.send(message);
  }

  receive(message) {
    const asked = message.method ? undefined : this.open.get(message.id);
    if (asked) {
      this.open.delete(message.id);
      return asked.receive(message, true);
    }
    const all = [...this.open.values()];
    const token = message.params?.progressToken;
    const to = all.find(one => token !== undefined && one.token === token)
      ?? all.at(-1);
    (to?.receive ?? this.stream)?.(message, false);
  }

  end() {
    this.process.stdin.end();
  }
}

function startStream(res) {
  res.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
  });
}

function writeEvent(res, message) {
  res.write(`data: ${JSON.stringify(message)}\n\n`);
}

// The status of an answer that is an error of the modern era's transport.
function statusOf(message, isMalformed) {
  const code = message.error?.code;
  return code === -32601 ? 404
    : [-32020, -32021, -32022].includes(code)
      || code === -32602 && isMalformed ? 400
    : 200;
}

// Answers with JSON, or with a stream if something comes before the answer.
function answer(res, server, message, isModern, then) {
  const meta = message.params?._meta ?? {};
  const isMalformed = isModern
    && !(META in meta && 'io.modelcontextprotocol/clientCapabilities' in meta);
  server.ask(message, (got, isLast) => {
    if (isLast && !res.headersSent) {
      json(res, isModern ? statusOf(got, isMalformed) : 200, got);
    } else {
      if (!res.headersSent) {
        startStream(res);
      }
      writeEvent(res, got);
      if (isLast) {
        res.end();
      }
    }
    if (isLast) {
      then?.(got);
    }
  });
}

function postModern(req, res, message) {
  const version = message.params?._meta?.[META];
  const header = req.headers['mcp-protocol-version'];
  if (version !== undefined && header !== version) {
    return refuse(res, 400, -32020, 'another version than in _meta',
      message.id);
  }
  const server = new Server();
  res.on('close', () => server.end());
  answer(res, server, message, true);
}

function postLegacy(req, res, message) {
  const id = req.headers['mcp-session-id'];
  if (message.method === 'initialize') {
    const session = randomUUID();
    const server = new Server();
    sessions.set(session, server);
    res.setHeader('Mcp-Session-Id', session);
    return answer(res, server, message, false);
  }
  const server = sessions.get(id);
  if (!server) {
    return refuse(res, id ? 404 : 400, -32600, 'no such session', message.id);
  }
  if (message.method && message.id !== undefined) {
    return answer(res, server, message, false);
  }
  server.send(message);
  res.writeHead(202).end();
}

function post(req, res, text) {
  const message = JSON.parse(text);
  if (req.headers['mcp-protocol-version'] === MODERN
      || message.params?._meta?.[META] !== undefined) {
    return postModern(req, res, message);
  }
  postLegacy(req, res, message);
}

http.createServer((req, res) => {
  const session = sessions.get(req.headers['mcp-session-id']);
  if (req.method === 'POST') {
    let text = '';
    req.setEncoding('utf8');
    req.on('data', data => text += data);
    return req.on('end', () => post(req, res, text));
  }
  if (!session || req.headers['mcp-protocol-version'] === MODERN) {
    return res.writeHead(405, { Allow: 'POST' }).end();
  }
  if (req.method === 'DELETE') {
    session.end();
    sessions.delete(req.headers['mcp-session-id']);
    return res.writeHead(200).end();
  }
  startStream(res);
  res.flushHeaders();
  session.stream = message => writeEvent(res, message);
}).listen(0, '127.0.0.1', function () {
  process.stdout.write(`http://127.0.0.1:${this.address().port}/mcp\n`);
});

// The test closes stdin when it is done.
process.stdin.on('end', () => process.exit()).resume();
