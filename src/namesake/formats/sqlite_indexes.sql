CREATE INDEX mentions_by_article ON mentions(article);
CREATE INDEX mentions_by_entity ON mentions(qid);
CREATE INDEX mentions_by_name ON mentions(name);
CREATE INDEX articles_by_id ON articles(id);
CREATE VIRTUAL TABLE articles_fts USING fts5(title, text, content='articles', content_rowid='number');
INSERT INTO articles_fts(articles_fts) VALUES ('rebuild');
CREATE VIRTUAL TABLE entities_fts USING fts5(label, description, content='entities', content_rowid='number');
INSERT INTO entities_fts(entities_fts) VALUES ('rebuild');
