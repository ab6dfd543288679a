import type { Connection, NewConnection } from '@backstop/client'
import { Button, PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, queryClient, useWrite } from '../../api/client.ts'
import { handleSubmit, useFields } from '../../parts/form/index.ts'
import { ManagersOnly, Problem, useProjectId } from '../../parts/page/index.ts'
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
const EMPTY: Draft = { kind: 'processor', name: '', out_of_band: 'alert', destination_secret: '', site: '' }

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
  return (
    <ManagersOnly title="Connect a billing account" above={['connections', 'Connections']}>
      <NewConnectionForm />
    </ManagersOnly>
  )
}

/** The first step of the setup: names the account. Its page then shows the steps at the provider with their ticks. */
function NewConnectionForm() {
  const project = useProjectId()
  const navigate = useNavigate()
  const { fields: draft, field } = useFields(EMPTY)
  const create = useWrite((body: NewConnection) => api.connections.create(project, body), {
    refresh: [['connections', 'list']],
    onDone(created) {
      queryClient.setQueryData(shownOnceKey(created.connection_id), created)
      const params = { project, id: created.connection_id }
      void navigate({ to: '/p/$project/connections/$id', params, search: { tab: 'setup' } as never })
    },
  })
  const isComplete = draft.name.trim() !== '' && (draft.kind !== 'reseller' || draft.destination_secret.trim() !== '')
  return (
    <form className={classes.body} onSubmit={handleSubmit(() => create.mutate(bodyOf(draft)))}>
      <div className={classes.form}>
        <Radio.Group label="Where is the account?" {...field('kind')}>
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
          {...field('name')}
        />
        {draft.kind === 'reseller' && (
          <PasswordInput
            label="Secret of the destination"
            description="Make a notification destination at the provider, and copy its secret here. You set its URL in the next step."
            autoComplete="off"
            required
            {...field('destination_secret')}
          />
        )}
        {draft.kind === 'subscription' && (
          <TextInput
            label="Site"
            description="The first part of the account’s address: acme of acme.chargebee.com. It can be added later."
            {...field('site')}
          />
        )}
        <Radio.Group
          label="When does it alert?"
          title="out_of_band"
          description="“Always” shows the alert about your own test. It can be changed at any time, for example until your software reports its own refunds."
          {...field('out_of_band')}
        >
          <Stack gap="sm" mt="sm">
            {MODES.map(({ value, label, meaning }) => (
              <Radio key={value} value={value} label={label} description={meaning} />
            ))}
          </Stack>
        </Radio.Group>
        <Button type="submit" size="sm" loading={create.isPending} disabled={!isComplete}>
          Make its endpoint
        </Button>
      </div>
      <Problem error={create.error} what="The account is not connected" />
    </form>
  )
}
