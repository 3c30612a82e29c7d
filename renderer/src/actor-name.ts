import { useI18n } from 'vue-i18n';

interface Actor {
  actor_name: string | null;
  /** True if nothing proves the name. */
  actor_claimed: boolean;
}

/** The actor's name as every screen shows it. A name that is only claimed is marked. */
export function useActorName(): (actor: Actor) => string {
  const { t } = useI18n();
  return ({ actor_name: name, actor_claimed: claimed }) =>
    claimed ? t('common.claimedName', { name: name ?? '' }) : (name ?? '');
}
