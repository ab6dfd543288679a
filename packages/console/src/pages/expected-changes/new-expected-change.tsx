import type { Action, IncidentWithTimeline } from '@backstop/client'
import { Checkbox, NumberInput, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { api, useWrite } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { optionsOf } from '../../parts/filters/index.ts'
import { Form, isLostRace, useFields } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { INTERVALS } from '../operations/words.ts'
import {
  type Body,
  bodyOf,
  DURATIONS,
  EMPTY,
  type Fields,
  fieldsLike,
  LONG_DURATIONS,
  type Scope,
  scopesOf,
  startAfter,
} from './expected-change-fields.ts'
import classes from './expected-changes.module.css'

const KINDS = [
  { value: 'refund', label: 'Refunds' },
  { value: 'cancellation', label: 'Cancellations' },
]
const LIMITS = [
  { value: '', label: 'In total' },
  ...Object.entries(INTERVALS).map(([value, label]) => ({ value, label })),
]
/** An incident whose action a person expects the next time. */
export type NextTime = IncidentWithTimeline & { readonly action: Action }

interface Props {
  close: () => void
  /** The form is filled in for further changes like the action of this incident, and can resolve it. */
  next?: NextTime | undefined
}

/** The form of a new expected change. */
export function NewExpectedChange({ close, next }: Props) {
  const projectId = useProjectId()
  const { may } = useSession()
  const { fields, field, edit } = useFields(() => ({ ...EMPTY, ...(next && fieldsLike(next.action)) }))
  const mayResolve = next !== undefined && next.state !== 'resolved' && may('incidents:write', projectId)
  const [isOurs, setIsOurs] = useState(true)
  const create = useCreation({ close, next, resolves: mayResolve && isOurs })
  const body = bodyOf(fields, projectId)
  const isRefund = fields.kind === 'refund'
  return (
    <Form
      write={create}
      failed="The expected change was not created"
      button="Create"
      isComplete={typeof body !== 'string'}
      onSubmit={() => typeof body !== 'string' && create.mutate(body)}
      onCancel={close}
      hint={typeof body === 'string' && fields.note !== '' && <span className="dim">{body}</span>}
    >
      {next === undefined ? (
        <SegmentedControl data={KINDS} {...field('kind')} />
      ) : (
        <Select
          label={isRefund ? 'Refunds' : 'Cancellations'}
          allowDeselect={false}
          data={scopesOf(next.action)}
          value={fields.actorId !== '' ? 'actor' : fields.customerId !== '' ? 'customer' : 'subject'}
          onChange={scope => edit(fieldsLike(next.action, scope as Scope))}
        />
      )}
      <Textarea
        label="Why"
        description="Shown with each change that it explains"
        required
        data-autofocus
        maxLength={500}
        placeholder="Goodwill after the outage, ticket 4711"
        {...field('note')}
      />
      <div className={classes.pair}>
        <NumberInput label="At most" placeholder="1,000" min={1} max={1000} {...field('count')} />
        <Select label="Limits apply" allowDeselect={false} data={LIMITS} {...field('interval')} />
      </div>
      {isRefund && (
        <div className={classes.money}>
          <TextInput
            label="Currency"
            placeholder="EUR"
            maxLength={3}
            value={fields.currency}
            onChange={event => edit({ currency: event.currentTarget.value.toUpperCase() })}
          />
          <TextInput label="Each" placeholder="Any amount" {...field('amount')} />
          <TextInput label="Together at most" placeholder="No limit" {...field('total')} />
        </div>
      )}
      {next === undefined && <ScopeFields isRefund={isRefund} fields={fields} field={field} />}
      <Select
        label="Ends"
        allowDeselect={false}
        data={fields.interval === '' ? DURATIONS : [...DURATIONS, ...LONG_DURATIONS]}
        {...field('endsIn')}
      />
      {mayResolve && (
        <Checkbox
          label="This one was us, too: resolve it"
          checked={isOurs}
          onChange={event => setIsOurs(event.currentTarget.checked)}
        />
      )}
    </Form>
  )
}

type Bound = Pick<ReturnType<typeof useFields<Fields>>, 'fields' | 'field'>

/** Which changes are covered, by ids. */
function ScopeFields({ isRefund, fields, field }: Bound & { isRefund: boolean }) {
  const names = useConnectionNames(useProjectId())
  return (
    <>
      <Select
        label="Connection"
        clearable
        allowDeselect
        placeholder="All connections"
        data={optionsOf(names)}
        {...field('connectionId')}
        value={fields.connectionId || null}
      />
      <TextInput
        label={isRefund ? 'Payment' : 'Subscription'}
        description="Its id at the provider. Empty: any"
        {...field('subject')}
      />
      <TextInput
        label="Customer"
        description="Its id at the provider of the connection. Empty: any"
        {...field('customerId')}
      />
      <TextInput label="Made by" description="The id of an actor, acr_… Empty: anybody" {...field('actorId')} />
    </>
  )
}

/** Creates the expected change, and then resolves the incident. A second attempt creates no second one. */
function useCreation({ close, next, resolves }: Props & { resolves: boolean }) {
  const isCreated = useRef(false)
  const resolve = async (incident: NextTime, note: string) => {
    try {
      await api.incidents.resolve(incident.incident_id, { reason: 'our_own_change', note })
    } catch (error) {
      // Somebody else resolved it first.
      if (!isLostRace(error)) throw error
    }
  }
  return useWrite(
    async (body: Body) => {
      const starts = next === undefined ? {} : { starts_at: startAfter(next.action) }
      if (!isCreated.current) await api.expectedChanges.create({ ...body, ...starts })
      isCreated.current = true
      if (next !== undefined && resolves) await resolve(next, body.note)
    },
    { refresh: ['expected-changes', 'incidents'], onDone: close },
  )
}
