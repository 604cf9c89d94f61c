CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE articles (number INTEGER PRIMARY KEY, id TEXT, title TEXT, date TEXT, text TEXT, extra TEXT);
CREATE TABLE entities (
  number INTEGER PRIMARY KEY, qid TEXT UNIQUE, label TEXT, description TEXT, kind TEXT, url TEXT
);
CREATE TABLE mentions (
  number INTEGER PRIMARY KEY, link INTEGER, article INTEGER REFERENCES articles(number), article_id TEXT,
  start INTEGER, "end" INTEGER, in_title INTEGER, name TEXT, qid TEXT REFERENCES entities(qid), label TEXT, kind TEXT,
  confidence REAL, known REAL, reason TEXT, best TEXT REFERENCES entities(qid),
  runner_up TEXT REFERENCES entities(qid), score REAL, margin REAL
);
CREATE TABLE candidates (
  link INTEGER, rank INTEGER, qid TEXT REFERENCES entities(qid), score REAL, confidence REAL, parts TEXT,
  PRIMARY KEY (link, rank)
);
CREATE VIEW entity_counts AS
  SELECT qid, e.label, e.kind, e.description, count(*) AS mentions, count(DISTINCT article) AS articles
  FROM mentions JOIN entities e USING (qid) GROUP BY qid ORDER BY mentions DESC;
CREATE VIEW mentions_in_context AS
  SELECT m.article_id, m.name, m.qid, m.label, m.confidence, m.reason, CASE WHEN m.in_title THEN a.title ELSE
    substr(a.text, max(m.start - 80, 0) + 1, m."end" + 80 - max(m.start - 80, 0)) END AS context
  FROM mentions m JOIN articles a ON a.number = m.article;
