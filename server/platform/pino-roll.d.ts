// The package brings no types of its own.
declare module 'pino-roll' {
  import type { SonicBoom, SonicBoomOpts } from 'sonic-boom';

  interface PinoRollOptions extends SonicBoomOpts {
    file: string;
    size?: string;
    extension?: string;
    limit?: { count: number; removeOtherLogFiles?: boolean };
  }

  export default function pinoRoll(options: PinoRollOptions): Promise<SonicBoom>;
}
