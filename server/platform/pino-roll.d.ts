// Types for the package, which ships without types.
declare module 'pino-roll' {
  import type pino from 'pino';

  interface PinoRollOptions {
    file: string;
    size?: string;
    extension?: string;
    mkdir?: boolean;
    /** Passed on to the destination. */
    sync?: boolean;
    minLength?: number;
    maxLength?: number;
    mode?: number;
  }

  export default function pinoRoll(options: PinoRollOptions): Promise<ReturnType<typeof pino.destination>>;
}
