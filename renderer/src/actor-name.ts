import { useI18n } from 'vue-i18n';

interface Actor {
  actor_name: string | null;
  /** Whether nothing proves the name. */
  actor_claimed: boolean;
}

/** Who did something, as every screen shows it: a name that is only claimed says so. */
export function useActorName(): (actor: Actor) => string {
  const { t } = useI18n();
  return ({ actor_name: name, actor_claimed: claimed }) =>
    claimed ? t('common.claimedName', { name: name ?? '' }) : (name ?? '');
}
