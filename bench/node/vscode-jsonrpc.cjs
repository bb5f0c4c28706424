// Pipelined echo between two node processes with vscode-jsonrpc; prints the milliseconds it took.
const { spawn } = require('node:child_process');
const rpc = require('vscode-jsonrpc/node');

function connectTo(readable, writable) {
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(readable),
    new rpc.StreamMessageWriter(writable),
  );
  return connection;
}

if (process.argv[2] === 'serve') {
  const connection = connectTo(process.stdin, process.stdout);
  connection.onRequest('echo', (params) => params);
  connection.listen();
} else {
  const requests = Number(process.argv[2]);
  const window = Number(process.argv[3]);
  const text = JSON.parse(process.argv[4]);
  const child = spawn(process.execPath, [__filename, 'serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = connectTo(child.stdout, child.stdin);
  connection.listen();
  (async () => {
    await connection.sendRequest('echo', { text });
    const start = process.hrtime.bigint();
    const inFlight = [];
    for (let sent = 0; sent < requests; sent++) {
      if (inFlight.length === window) {
        const answer = await inFlight.shift();
        if (answer.text.length !== text.length) throw new Error('the text did not come back');
      }
      inFlight.push(connection.sendRequest('echo', { text }));
    }
    await Promise.all(inFlight);
    console.log(Number(process.hrtime.bigint() - start) / 1e6);
    child.kill();
    process.exit(0);
  })();
}
