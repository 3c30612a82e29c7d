// What the line charts share. Loaded with the first of them, because the library is larger than a screen.
import {
  CategoryScale,
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from 'chart.js';
import { formatCount } from '../i18n/i18n.ts';
import type { ChartInk } from './chart-ink.ts';
import type { LineLook } from './line-looks.ts';

Chart.register(CategoryScale, Filler, LinearScale, LineController, LineElement, PointElement, Tooltip);

/** How a line is drawn, apart from its color. */
export const LINE = { pointRadius: 0, pointHoverRadius: 4, pointHitRadius: 8, tension: 0 };

export interface PlotLine {
  values: readonly number[];
  look: LineLook;
}

export interface PlotLabels {
  /** Head of the tooltip. */
  title(index: number): string;
  /** One line of the tooltip. */
  label(value: number, dataset: number, index: number): string;
  /** Below the chart. */
  tick(index: number): string;
}

interface TooltipItem {
  raw: unknown;
  datasetIndex: number;
  dataIndex: number;
}

export function lineOptions(ink: ChartInk | null, labels: PlotLabels) {
  const { text = '', grid = '', font = '' } = ink ?? {};
  const ticks = { color: text, font: { family: font, size: 11 } };
  return {
    animation: false as const,
    responsive: true,
    maintainAspectRatio: false,
    interaction: { mode: 'index' as const, intersect: false },
    plugins: {
      tooltip: {
        padding: 10,
        boxPadding: 4,
        boxWidth: 10,
        boxHeight: 2,
        titleFont: { family: font, size: 12 },
        bodyFont: { family: font, size: 12 },
        callbacks: {
          title: ([item]: { dataIndex: number }[]) => labels.title(item?.dataIndex ?? -1),
          label: ({ raw, datasetIndex, dataIndex }: TooltipItem) =>
            labels.label(Number(raw), datasetIndex, dataIndex),
        },
      },
    },
    scales: {
      x: {
        grid: { display: false },
        border: { color: grid },
        ticks: {
          ...ticks,
          maxRotation: 0,
          autoSkipPadding: 32,
          callback: (_value: unknown, index: number) => labels.tick(index),
        },
      },
      y: {
        beginAtZero: true,
        suggestedMax: 4,
        grid: { color: grid },
        border: { display: false },
        ticks: {
          ...ticks,
          precision: 0,
          maxTicksLimit: 5,
          callback: (value: unknown) => formatCount(Number(value)),
        },
      },
    },
  };
}
