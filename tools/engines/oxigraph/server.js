// Serves files through Oxigraph at http://127.0.0.1:PORT/sparql. A query comes in a GET request, in a form, or as the
// body of a POST; the answer is SPARQL JSON. Arguments: PORT MODULES FILE...
// A query cannot be stopped inside the engine: the harness kills the process and starts it again. The header
// Server-Timing has the time of each query inside the engine; the loading time is written to the file $LOADED, in
// milliseconds.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');

const [port, modules, ...files] = process.argv.slice(2);
const oxigraph = require(path.join(modules, 'oxigraph'));
const store = new oxigraph.Store();
let loading = 0;
for (const file of files) {
  let data = fs.readFileSync(file);
  let name = file;
  if (name.endsWith('.gz')) {
    data = zlib.gunzipSync(data);
    name = name.slice(0, -3);
  }
  const text = data.toString('utf8');
  const start = performance.now();
  store.load(text, { format: name.endsWith('.nt') ? 'application/n-triples' : 'text/turtle', no_transaction: true });
  loading += performance.now() - start;
}
if (process.env.LOADED) fs.writeFileSync(process.env.LOADED, String(Math.round(loading)));
http.createServer((req, res) => {
  const body = [];
  req.on('data', (d) => body.push(d));
  req.on('end', () => {
    try {
      let query = Buffer.concat(body).toString('utf8');
      if (req.method === 'GET') query = new URL(req.url, 'http://127.0.0.1').searchParams.get('query') || '';
      else if ((req.headers['content-type'] || '').startsWith('application/x-www-form-urlencoded')) query = new URLSearchParams(query).get('query') || '';
      const start = performance.now();
      const out = store.query(query, { results_format: 'application/sparql-results+json' });
      const took = performance.now() - start;
      res.writeHead(200, { 'Content-Type': 'application/sparql-results+json', 'Server-Timing': 'query;dur=' + took.toFixed(3) });
      res.end(out);
    } catch (e) {
      res.writeHead(400, { 'Content-Type': 'text/plain' });
      res.end(String(e && e.message || e));
    }
  });
}).listen(Number(port), '127.0.0.1');
