// A canvas ignores style sheets, so a chart reads its colors from the element around it.
import { onMounted, type Ref, shallowRef, watch } from 'vue';
import { useMediaQuery } from '../media-query.ts';
import { isPrinting } from '../printing.ts';

export interface ChartInk {
  /** `outline-color` */
  line: string;
  /** `color` */
  text: string;
  /** `border-top-color` */
  grid: string;
  /** `background-color` */
  surface: string;
  font: string;
}

/** What changes the tokens while the page is open. */
const THEMES = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'];

/** @returns null until the element is on the page */
export function useChartInk(box: Readonly<Ref<HTMLElement | null>>): Readonly<Ref<ChartInk | null>> {
  const ink = shallowRef<ChartInk | null>(null);
  function read(): void {
    if (!box.value) return;
    // The style sheet for print may apply only later.
    box.value.style.colorScheme = isPrinting.value ? 'light' : '';
    const style = getComputedStyle(box.value);
    ink.value = {
      line: style.outlineColor,
      text: style.color,
      grid: style.borderTopColor,
      surface: style.backgroundColor,
      font: style.fontFamily,
    };
  }
  onMounted(read);
  watch([isPrinting, ...THEMES.map(useMediaQuery)], read, { flush: 'post' });
  return ink;
}

/** `rgb(59, 91, 219)` with this opacity. */
export function faded(color: string, opacity: number): string {
  return color.replace(/^rgba?\(([^,]+,[^,]+,[^,)]+).*$/u, `rgba($1, ${opacity})`);
}
