// Imported before any schema: zod would compile them with `new Function`, which the content security policy forbids.
import { config } from 'zod';

config({ jitless: true });
