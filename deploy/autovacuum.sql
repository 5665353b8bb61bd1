ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE outbox_events SET (autovacuum_vacuum_scale_factor = 0.02);
