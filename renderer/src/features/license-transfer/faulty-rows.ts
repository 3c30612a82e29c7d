// The file of faulty rows in the language of the page.
import type { ImportError } from '#server/features/license-transfer/license-transfer-contract.ts';
import { csvLine, csvStart } from '#server/wire/csv.ts';
import { useBrokenRuleText } from '../../api/broken-rule-text.ts';
import { csvStyle } from '../../csv-file.ts';
import { useColumnLabel } from './column-label.ts';

type Row = [line: string, error: string, ...cells: string[]];

/** @returns what makes a CSV file of the rows as JSON lines */
export function useFaultyRows(): (jsonLines: string) => string {
  const ruleTextOf = useBrokenRuleText();
  const labelOf = useColumnLabel();

  return (jsonLines) => {
    const { separator, bom } = csvStyle();
    const [header = ['', ''], ...rows] = jsonLines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const [, , ...columns] = header;
    const textOf = ({ column, ...rule }: ImportError) => {
      const { text } = ruleTextOf(rule);
      return column === null ? text : `${labelOf(columns, column)}: ${text}`;
    };
    const lines = rows.map(([line, error, ...cells]) => {
      const errors = JSON.parse(error) as ImportError[];
      return csvLine([line, errors.map(textOf).join(' '), ...cells], separator);
    });
    return csvStart({ bom }) + csvLine(header, separator) + lines.join('');
  };
}
