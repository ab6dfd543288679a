import type { ShownActor } from '@backstop/client'
import { api, refresh } from '../../api/client.ts'
import { ConfirmButton, DialogButton } from '../../parts/form/index.ts'
import { Badge } from '../../parts/show/index.ts'
import { NameActor, SHOWN } from './actor-forms.tsx'
import { providerWords, roleWord } from './words.ts'

/** What people say that an actor is. */
export function RoleBadge({ role }: Pick<ShownActor, 'role'>) {
  return role === 'unknown' ? null : <Badge tone={role === 'canary' ? 'alarm' : 'quiet'}>{roleWord(role)}</Badge>
}

/** Names an actor, and removes the name again. */
export function ActorButtons({ actor }: { actor: ShownActor }) {
  const remove = async () => {
    await api.actors.forget(actor.project_id, actor.actor_id)
    await refresh(...SHOWN)
  }
  return (
    <>
      {actor.kind !== null && (
        <DialogButton label="Name" title="Name the actor" variant="default">
          {close => <NameActor actor={actor} onDone={close} />}
        </DialogButton>
      )}{' '}
      {actor.version > 0 && (actor.name !== null || actor.role !== 'unknown') && (
        <ConfirmButton
          question={`Remove the name and the role of “${actor.name ?? providerWords(actor)}”?`}
          consequence={consequenceOf(actor)}
          onConfirm={remove}
        >
          Remove
        </ConfirmButton>
      )}
    </>
  )
}

function consequenceOf({ role, kind }: ShownActor): string {
  if (role === 'canary') return 'Its actions no longer alert at once.'
  return kind === 'key_prefix'
    ? 'Its idempotency keys name no further actions. Earlier actions keep the actor, without its name.'
    : 'Alerts show only the words of the provider.'
}
