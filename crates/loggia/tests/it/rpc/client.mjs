// A client of the Autohand protocol: starts the agent it is given, has one turn, and says what it saw.
//
// Standard library only. Usage: client.mjs PROGRAM [ARGUMENT...]

import { spawn } from 'node:child_process';
import * as readline from 'node:readline';

const [program, ...words] = process.argv.slice(2);
const agent = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = readline.createInterface({ input: agent.stdout, crlfDelay: Infinity });

let lastId = 0;
const pending = new Map();
let endTurn;
const turnIsOver = new Promise((resolve) => { endTurn = resolve; });
const exited = new Promise((resolve) => agent.on('close', resolve));

lines.on('line', (line) => {
  const message = JSON.parse(line);
  if ('id' in message) {
    const { resolve, reject } = pending.get(message.id);
    pending.delete(message.id);
    if (message.error) reject(message.error);
    else resolve(message.result);
  } else {
    onNotification(message.method, message.params);
  }
});

function call(method, params) {
  return new Promise((resolve, reject) => {
    const id = ++lastId;
    pending.set(id, { resolve, reject });
    agent.stdin.write(JSON.stringify({ jsonrpc: '2.0', method, params, id }) + '\n');
  });
}

function onNotification(method, params) {
  switch (method) {
    case 'autohand.permissionRequest':
      console.log('asked:', params.tool, params.context.path);
      call('autohand.permissionResponse', { requestId: params.requestId, allowed: true });
      break;
    case 'autohand.toolStart':
      console.log('tool started:', params.toolName);
      break;
    case 'autohand.toolEnd':
      console.log('tool ended:', params.toolName, params.success ? 'well' : 'badly');
      break;
    case 'autohand.hook.fileModified':
      console.log('file:', params.changeType, params.filePath);
      break;
    case 'autohand.messageEnd':
      console.log('said:', params.content);
      break;
    case 'autohand.turnEnd':
      console.log('turn ended:', params.reason);
      endTurn();
      break;
    case 'autohand.agentEnd':
      console.log('agent ended:', params.reason);
      break;
  }
}

console.log('state:', (await call('autohand.getState')).status);
console.log('accepted:', (await call('autohand.prompt', { message: 'Write a greeting' })).success);
await turnIsOver;
agent.stdin.end();
console.log('exit:', await exited);
