import type { ShownActor } from '@backstop/client'
import { Select, TextInput } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { providerWords, ROLES } from './words.ts'

/** What shows the name of an actor. */
export const SHOWN = ['actors', 'actions', 'incidents', 'storms']

function roleHint(role: ShownActor['role']): string | undefined {
  return role === 'canary' ? 'Nobody may use it: each of its actions from now on alerts at once.' : undefined
}

/** Names an actor, and says what it is. */
export function NameActor({ actor, onDone }: { actor: ShownActor; onDone: () => void }) {
  const { actor_id, project_id, version } = actor
  const { fields, field } = useFields({ name: actor.name ?? '', role: actor.role })
  const change = useWrite(
    () => {
      const patch = { name: fields.name.trim() || null, role: fields.role }
      return api.actors.name(project_id, actor_id, patch, { ifVersion: version })
    },
    { refresh: SHOWN, onDone },
  )
  return (
    <Form write={change} failed="The name was not saved" button="Save" onSubmit={() => change.mutate()}>
      <p className="dim" dir="auto">
        {providerWords(actor)}
      </p>
      <TextInput label="Name" placeholder="Support tool" data-autofocus maxLength={100} {...field('name')} />
      <Select label="What it is" data={ROLES} description={roleHint(fields.role)} {...field('role')} />
    </Form>
  )
}

const EMPTY = { prefix: '', name: '', role: 'ours' as ShownActor['role'] }

/** Declares software by the beginning of its idempotency keys. */
export function NewActor({ onDone }: { onDone: () => void }) {
  const project_id = useProjectId()
  const { fields, field } = useFields(EMPTY)
  const { prefix, name, role } = fields
  const create = useWrite(() => api.actors.declare(project_id, { prefix: prefix.trim(), name: name.trim(), role }), {
    refresh: SHOWN,
    onDone,
  })
  return (
    <Form
      write={create}
      failed="The software was not declared"
      button="Declare"
      isComplete={prefix.trim().length >= 3 && name.trim() !== ''}
      onSubmit={() => create.mutate()}
    >
      <TextInput
        label="Its idempotency keys begin with"
        placeholder="billing-"
        data-autofocus
        maxLength={100}
        {...field('prefix')}
      />
      <TextInput label="Name" placeholder="Support tool" maxLength={100} {...field('name')} />
      <Select label="What it is" data={ROLES} description={roleHint(role)} {...field('role')} />
      <p className="dim">
        It names actions at the card processor that are first seen from now on. It proves nothing: whoever has an API
        key can choose an idempotency key.
      </p>
    </Form>
  )
}
