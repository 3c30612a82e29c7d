-- A database for License Desk and two users for it. As a superuser, or as the administrator of a managed PostgreSQL:
--   psql -v database=desk -f postgresql-roles.sql
-- with the passwords of both users in the environment, as DESK_OWNER_PASSWORD and DESK_SERVER_PASSWORD: every user of the
-- machine can read command lines.
-- `desk_owner` creates and changes tables: for the first start, upgrades, move-database and restore.
-- `desk_server` reads and writes rows: for the servers in between.

\getenv owner_password DESK_OWNER_PASSWORD
\getenv server_password DESK_SERVER_PASSWORD

CREATE ROLE desk_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'owner_password';
CREATE ROLE desk_server LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'server_password';

CREATE DATABASE :"database" ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO desk_owner, desk_server;

\connect :"database"

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO desk_owner;
GRANT USAGE ON SCHEMA public TO desk_server;
-- Speeds up searches for parts of texts. The owner of the tables may not create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;

-- The administrator has to be a member of the owner to say what its future tables allow.
GRANT desk_owner TO CURRENT_USER;
ALTER DEFAULT PRIVILEGES FOR ROLE desk_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO desk_server;
ALTER DEFAULT PRIVILEGES FOR ROLE desk_owner IN SCHEMA public
  GRANT USAGE, SELECT ON SEQUENCES TO desk_server;
