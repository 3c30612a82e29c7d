// What the page calls the columns of a file.
import { useI18n } from 'vue-i18n';
import { unnamedColumn } from '#server/features/license-transfer/license-csv-contract.ts';

/** The server's name of a column without one is English, and remains the key of the mapping. */
export function useColumnLabel(): (columns: readonly string[], column: string) => string {
  const { t } = useI18n();
  return (columns, column) => {
    const index = columns.indexOf(column);
    return column === unnamedColumn(index) ? t('licenseTransfer.unnamedColumn', { n: index + 1 }) : column;
  };
}
