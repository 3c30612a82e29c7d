import type { Component } from 'vue';

/** One entry of an `ActionMenu`. */
export interface MenuAction {
  id: string;
  label: string;
  icon: Component;
  run: () => void;
  /** Destructive entries are red, and stand last behind a line. */
  isDanger?: boolean;
  disabled?: boolean;
}
