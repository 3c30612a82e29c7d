// How a download of a CSV file is written, as fields of its request.
import { z } from 'zod';
import { CSV_SEPARATORS, type CsvSeparator } from './csv.ts';

export const csvStyle = {
  separator: z
    .enum(Object.keys(CSV_SEPARATORS) as [CsvSeparator, ...CsvSeparator[]])
    .default('comma')
    .meta({
      description:
        'What separates cells. `semicolon` is for spreadsheets of locales with a decimal comma, such as German ones; numbers then have a decimal comma.',
    }),
  bom: z
    .literal('true')
    .optional()
    .meta({ description: 'Begin with a byte order mark, by which spreadsheets recognize UTF-8.' }),
};
