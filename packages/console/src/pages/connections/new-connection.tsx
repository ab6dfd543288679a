import type { Connection, CreatedConnection, NewConnection } from '@backstop/client'
import { Button, PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { ManagersOnly } from '../../parts/managers-only.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import classes from './connections.module.css'
import { shownOnceKey } from './shown-once.ts'
import { MODES, type Mode, PROVIDERS } from './words.ts'

interface Draft {
  readonly kind: Connection['kind']
  readonly name: string
  readonly out_of_band: Mode
  readonly destination_secret: string
  readonly site: string
}
const EMPTY: Draft = { kind: 'processor', name: '', out_of_band: 'auto', destination_secret: '', site: '' }

function bodyOf({ kind, name, out_of_band, destination_secret, site }: Draft): NewConnection {
  const common = { name: name.trim(), out_of_band }
  switch (kind) {
    case 'processor':
      return { ...common, kind }
    case 'reseller':
      return { ...common, kind, destination_secret: destination_secret.trim() }
    case 'subscription':
      return { ...common, kind, ...(site.trim() === '' ? {} : { site: site.trim() }) }
    default:
      return kind satisfies never
  }
}

export function Page() {
  const above = (
    <Link to="/p/$project/connections" params={{ project: useProjectId() }}>
      Connections
    </Link>
  )
  return (
    <ManagersOnly title="Connect a billing account" above={above}>
      <NewConnectionForm />
    </ManagersOnly>
  )
}

/** The first step of the setup: names the account. Its page then shows the steps at the provider with their ticks. */
function NewConnectionForm() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(EMPTY)
  const create = useMutation({
    mutationFn: (body: NewConnection) => api.connections.create(project_id, body),
    onSuccess(created: CreatedConnection) {
      queryClient.setQueryData(shownOnceKey(created.connection_id), created)
      void queryClient.invalidateQueries({ queryKey: ['connections', 'list'] })
      const params = { project: project_id, id: created.connection_id }
      void navigate({ to: '/p/$project/connections/$id', params, search: { tab: 'setup' } as never })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(bodyOf(draft))
  }
  const isComplete = draft.name.trim() !== '' && (draft.kind !== 'reseller' || draft.destination_secret.trim() !== '')
  return (
    <form className={classes.body} onSubmit={submit}>
      <div className={classes.form}>
        <Fields draft={draft} onChange={change => setDraft({ ...draft, ...change })} />
        <Button type="submit" size="sm" loading={create.isPending} disabled={!isComplete}>
          Make its endpoint
        </Button>
      </div>
      {create.error !== null && <Problem error={create.error} what="The account is not connected" />}
    </form>
  )
}

function Fields({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  return (
    <>
      <Radio.Group
        label="Where is the account?"
        value={draft.kind}
        onChange={kind => onChange({ kind: kind as Draft['kind'] })}
      >
        <Stack gap="sm" mt="sm">
          {Object.entries(PROVIDERS).map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        label="Name"
        description="Alerts and lists name the account by it, for example “Card account Europe”."
        required
        value={draft.name}
        onChange={event => onChange({ name: event.currentTarget.value })}
      />
      {draft.kind === 'reseller' && (
        <PasswordInput
          label="Secret of the destination"
          description="Make a notification destination at the provider, and copy its secret here. You set its URL in the next step."
          autoComplete="off"
          required
          value={draft.destination_secret}
          onChange={event => onChange({ destination_secret: event.currentTarget.value })}
        />
      )}
      {draft.kind === 'subscription' && (
        <TextInput
          label="Site"
          description="The first part of the account’s address: acme of acme.chargebee.com. It can be added later."
          value={draft.site}
          onChange={event => onChange({ site: event.currentTarget.value })}
        />
      )}
      <Radio.Group
        label="When does it alert? (out_of_band)"
        description="It can be changed at any time."
        value={draft.out_of_band}
        onChange={mode => onChange({ out_of_band: mode as Mode })}
      >
        <Stack gap="sm" mt="sm">
          {MODES.map(({ value, label, meaning }) => (
            <Radio key={value} value={value} label={label} description={meaning} />
          ))}
        </Stack>
      </Radio.Group>
    </>
  )
}
