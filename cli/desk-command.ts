// A commander command whose usage errors name the option, the value and what is allowed.
import { Command, Help, type Option } from 'commander';
import { usageFailure } from './command-failure.ts';
import { RepeatableOption } from './repeatable-option.ts';
import { usageMessage } from './usage-message.ts';

class DeskHelp extends Help {
  /** Sentence case: `Global options:`. */
  override styleTitle(title: string): string {
    return super.styleTitle(title.charAt(0) + title.slice(1).toLowerCase());
  }

  override optionDescription(option: Option): string {
    const description = super.optionDescription(option);
    return option.mandatory ? `${description} (required)` : description;
  }
}

export class DeskCommand extends Command {
  override createCommand(name?: string): Command {
    return new DeskCommand(name);
  }

  override createHelp(): Help {
    return Object.assign(new DeskHelp(), this.configureHelp());
  }

  override addOption(option: Option): this {
    // Commander would silently use the last value.
    if (option.required && !(option instanceof RepeatableOption)) {
      let isGiven = false;
      this.on(`option:${option.name()}`, () => {
        if (isGiven) throw usageFailure(`${option.long} can be given only once`);
        isGiven = true;
      });
    }
    return super.addOption(option);
  }

  override error(message: string, options: { code?: string; exitCode?: number } = {}): never {
    return super.error(usageMessage(options.code ?? '', message), options);
  }
}
