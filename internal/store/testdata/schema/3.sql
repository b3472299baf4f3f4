PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE discussions (
	id TEXT PRIMARY KEY,
	page TEXT NOT NULL,
	place BIGINT NOT NULL, -- order on the page
	data TEXT NOT NULL -- dataset.Candidate as JSON
);
INSERT INTO "discussions" VALUES('c-0000000000000001','Archive/2026/10',0,'{"schema":0,"id":"c-0000000000000001","provenance":{"wiki":"","page":"","revision":0,"section":0,"heading":"","permalink":"","url":"","month":"","read":"0001-01-01T00:00:00Z","licence":""},"conversation":{"responses":0,"comments":null},"queries":null,"original":"SELECT ?x {}","stage":""}');
CREATE TABLE entries (
	seq INTEGER PRIMARY KEY, -- in the order of writing
	key TEXT NOT NULL UNIQUE,
	page TEXT NOT NULL,
	thread TEXT NOT NULL,
	text TEXT NOT NULL,
	state TEXT NOT NULL,
	saved BIGINT NOT NULL, -- last attempt to save, microseconds since 1970; 0: none
	version BIGINT NOT NULL,
	data TEXT NOT NULL -- bot.Entry as JSON
);
INSERT INTO "entries" VALUES(1,'sb-0000000000000001','Wikidata:Request a query','c-Ann-1','aa','posted',1790848860000000,1,'{"key":"sb-0000000000000001","page":"Wikidata:Request a query","comment":"c-Ann-1","thread":"c-Ann-1","kind":"request","state":"posted","heading":"Trees","author":"Ann Ó","time":"2026-10-01T10:00:00Z","text":"aa","question":"Which tree is \"largest\"? 🌱","draft":{"reply":{"Language":"","To":"","Short":"","NoAnswer":"","Query":"","Vars":null,"Rows":null,"Total":0,"Boolean":null,"RanAt":"0001-01-01T00:00:00Z","Endpoint":"","Steps":null,"Similar":null,"Operator":"","Marker":"","Signature":""},"wikitext":":It''s\n{{x}} 🌱","diff":"","revision":0,"turn":{"question":""},"confidence":0,"calls":0,"usd":0.25,"made":"2026-10-01T10:00:00Z"},"save":{"base_rev":7,"section":2,"first":"0001-01-01T00:00:00Z","at":"2026-10-01T10:01:00Z"},"rev":8,"created":"2026-10-01T10:00:00Z","updated":"2026-10-01T10:00:00Z"}');
INSERT INTO "entries" VALUES(2,'sb-0000000000000002','Wikidata:Request a query','u-2','bb','accepted',0,1,'{"key":"sb-0000000000000002","page":"Wikidata:Request a query","comment":"u-2","thread":"u-2","kind":"request","state":"accepted","heading":"Rivers","author":"","time":null,"text":"bb","question":"And rivers?","not_before":"2026-10-01T11:00:00Z","created":"2026-10-01T10:00:00Z","updated":"2026-10-01T10:00:00Z"}');
INSERT INTO "entries" VALUES(3,'sb-0000000000000003','Wikidata:Request a query','c-Cy-3','cc','gave_up',0,1,'{"key":"sb-0000000000000003","page":"Wikidata:Request a query","comment":"c-Cy-3","thread":"c-Cy-3","kind":"followup","state":"gave_up","reason":"no rows","heading":"Lakes","author":"Cy","time":"2026-10-01T10:00:00Z","text":"cc","created":"2026-10-01T10:00:00Z","updated":"2026-10-01T10:00:00Z"}');
CREATE TABLE harvest_pages (
	title TEXT PRIMARY KEY,
	data TEXT NOT NULL -- harvest.Page as JSON
);
INSERT INTO "harvest_pages" VALUES('Archive/2026/10','{"title":"Archive/2026/10","month":"2026-10","revision":9,"source":""}');
CREATE TABLE notes (
	key TEXT PRIMARY KEY,
	value BLOB NOT NULL
);
INSERT INTO "notes" VALUES('k',X'0001FF78');
CREATE TABLE spent (
	day TEXT PRIMARY KEY, -- 2026-11-20, UTC
	calls BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	usd DOUBLE PRECISION NOT NULL
);
INSERT INTO "spent" VALUES('2026-10-01',3,100,20,0.5);
CREATE TABLE work_events (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	candidate TEXT NOT NULL,
	who TEXT NOT NULL,
	at BIGINT NOT NULL, -- microseconds since 1970
	data TEXT NOT NULL -- annotate.Event as JSON
);
INSERT INTO "work_events" VALUES(1,'c-0000000000000001','',1790848800000000,'{"seq":0,"at":"2026-10-01T10:00:00Z","who":"","kind":"","work":{"candidate":"c-0000000000000001","annotator":"Bo","version":1,"query":"SELECT ?x { ?x ?y ''it''''s'' }","question":"Which?","verdict":"include","updated":"2026-10-01T10:00:00Z"}}');
CREATE TABLE works (
	candidate TEXT NOT NULL,
	annotator TEXT NOT NULL, -- '' is the resolution
	version BIGINT NOT NULL,
	data TEXT NOT NULL, -- annotate.Work as JSON
	PRIMARY KEY (candidate, annotator)
);
INSERT INTO "works" VALUES('c-0000000000000001','Bo',1,'{"candidate":"c-0000000000000001","annotator":"Bo","version":1,"query":"SELECT ?x { ?x ?y ''it''''s'' }","question":"Which?","verdict":"include","updated":"2026-10-01T10:00:00Z"}');
CREATE INDEX entries_state ON entries (page, state);
CREATE INDEX entries_thread ON entries (page, thread);
CREATE INDEX entries_text ON entries (page, text);
CREATE INDEX entries_saved ON entries (saved);
CREATE INDEX work_events_candidate ON work_events (candidate);
CREATE INDEX work_events_who ON work_events (who);
CREATE INDEX discussions_page ON discussions (page, place);
COMMIT;
