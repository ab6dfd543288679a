import { Checkbox, MultiSelect, Select, Switch, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAllConnections } from '../../api/connections.ts'
import classes from './channel-form.module.css'
import { canBeQuiet, type Draft, type FormProps } from './draft.ts'
import { QuietHoursFields } from './quiet-hours.tsx'
import { TargetFields } from './target-fields.tsx'
import { EVENTS, KINDS } from './words.ts'

interface Props extends FormProps {
  projectId: string
  isNew: boolean
  /** Names of the saved headers of a webhook. */
  headerNames?: readonly string[]
  children: ReactNode
}

/** The settings of a channel. The children are its buttons. */
export function ChannelForm({ projectId, isNew, headerNames = [], children, ...form }: Props) {
  const { draft, faults, change } = form
  return (
    <div className={classes.form}>
      <TextInput
        label="Name"
        required
        value={draft.name}
        error={faults.name}
        onChange={event => change({ name: event.currentTarget.value })}
      />
      {isNew && (
        <Select
          label="Kind"
          data={KINDS}
          value={draft.kind}
          onChange={kind => kind !== null && change({ kind: kind as Draft['kind'] })}
        />
      )}
      <TargetFields {...form} isNew={isNew} headerNames={headerNames} />
      <Checkbox.Group
        label="Events"
        value={[...draft.events]}
        error={faults.events}
        onChange={events => change({ events: events as Draft['events'] })}
      >
        <div className={classes.choices}>
          {EVENTS.map(({ value, label }) => (
            <Checkbox key={value} size="xs" value={value} label={label} />
          ))}
        </div>
      </Checkbox.Group>
      <FilterFields {...form} projectId={projectId} />
      {canBeQuiet(draft.kind) && (
        <QuietHoursFields value={draft.quietHours} onChange={quietHours => change({ quietHours })} />
      )}
      <Switch
        size="sm"
        label="Show personal data"
        description="The name and e-mail address of customers, and who made a change"
        checked={draft.showsPersonalData}
        onChange={event => change({ showsPersonalData: event.currentTarget.checked })}
      />
      {children}
    </div>
  )
}

function FilterFields({ draft, faults, change, projectId }: FormProps & { projectId: string }) {
  const connections = useAllConnections(projectId)
  const known = connections.map(({ connection_id, name }) => ({ value: connection_id, label: name }))
  const deleted = draft.connectionIds
    .filter(id => known.every(({ value }) => value !== id))
    .map(id => ({ value: id, label: `${id} (deleted)` }))
  const isLimited = draft.connectionIds.length > 0 || draft.kinds.length > 0 || draft.minimumAmounts.trim() !== ''
  return (
    <details className={classes.more} open={isLimited || undefined}>
      <summary>Only some alerts</summary>
      <div className={classes.moreFields}>
        <MultiSelect
          label="Connections"
          description="Alerts that concern no connection always pass"
          placeholder={draft.connectionIds.length === 0 ? 'All connections' : ''}
          data={[...known, ...deleted]}
          value={[...draft.connectionIds]}
          clearable
          onChange={connectionIds => change({ connectionIds })}
        />
        <Checkbox.Group
          label="Kinds"
          value={[...draft.kinds]}
          onChange={kinds => change({ kinds: kinds as Draft['kinds'] })}
        >
          <div className={classes.choices}>
            <Checkbox size="xs" value="refund" label="Refunds" />
            <Checkbox size="xs" value="cancellation" label="Cancellations" />
          </div>
        </Checkbox.Group>
        <Textarea
          label="Smallest amounts"
          description="One currency on each line. Other currencies have no minimum"
          placeholder={'EUR 50.00\nJPY 8000'}
          value={draft.minimumAmounts}
          error={faults.minimumAmounts}
          onChange={event => change({ minimumAmounts: event.currentTarget.value })}
        />
      </div>
    </details>
  )
}
