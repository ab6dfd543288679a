import { Checkbox, Group, MultiSelect, Select, SimpleGrid, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useConnectionNames } from '../../api/connections.ts'
import { optionsOf } from '../../parts/filters/index.ts'
import { TimeZoneSelect } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import classes from './channel.module.css'
import { canBeQuiet, type Draft, type FormProps } from './draft.ts'
import { TargetFields } from './target-fields.tsx'
import { DAYS, EVENTS, KINDS } from './words.ts'

interface Props extends FormProps {
  isNew: boolean
  /** Names of the saved headers of a webhook. */
  headerNames?: readonly string[]
  children: ReactNode
}

/** The settings of a channel. The children are its buttons. */
export function ChannelForm({ isNew, headerNames = [], children, ...form }: Props) {
  const { draft, faults, field, edit } = form
  return (
    <Stack gap="md" miw={0}>
      <TextInput label="Name" required error={faults.name} {...field('name')} />
      {isNew && <Select label="Kind" data={KINDS} {...field('kind')} />}
      <TargetFields {...form} isNew={isNew} headerNames={headerNames} />
      <Checkbox.Group label="Events" error={faults.events} {...field('events')} value={[...draft.events]}>
        <Choices options={EVENTS} />
      </Checkbox.Group>
      <FilterFields {...form} />
      {canBeQuiet(draft.kind) && (
        <QuietHoursFields value={draft.quietHours} onChange={quietHours => edit({ quietHours })} />
      )}
      <Switch
        size="sm"
        label="Show personal data"
        description="The name and e-mail address of customers, and who made a change"
        checked={draft.showsPersonalData}
        onChange={event => edit({ showsPersonalData: event.currentTarget.checked })}
      />
      {children}
    </Stack>
  )
}

/** The boxes of a group, in as many columns as there is room for. */
function Choices({ options }: { options: readonly { value: string; label: string }[] }) {
  return (
    <SimpleGrid minColWidth="190px" spacing={12} verticalSpacing={8} pt={6}>
      {options.map(({ value, label }) => (
        <Checkbox key={value} size="xs" value={value} label={label} />
      ))}
    </SimpleGrid>
  )
}

const FILTERED_KINDS = [
  { value: 'refund', label: 'Refunds' },
  { value: 'cancellation', label: 'Cancellations' },
]

function FilterFields({ draft, faults, field }: FormProps) {
  const { connectionIds, kinds, minimumAmounts } = draft
  const names = useConnectionNames(useProjectId())
  const deleted = connectionIds.filter(id => !names.has(id)).map(id => ({ value: id, label: `${id} (deleted)` }))
  const isLimited = connectionIds.length > 0 || kinds.length > 0 || minimumAmounts.trim() !== ''
  return (
    <details className={classes.more} open={isLimited || undefined}>
      <summary>Only some alerts</summary>
      <Stack gap={12} pt={12}>
        <MultiSelect
          label="Connections"
          description="Alerts that concern no connection always pass"
          placeholder={connectionIds.length === 0 ? 'All connections' : ''}
          data={[...optionsOf(names), ...deleted]}
          clearable
          {...field('connectionIds')}
          value={[...connectionIds]}
        />
        <Checkbox.Group label="Kinds" {...field('kinds')} value={[...kinds]}>
          <Choices options={FILTERED_KINDS} />
        </Checkbox.Group>
        <Textarea
          label="Smallest amounts"
          description="One currency on each line. Other currencies have no minimum"
          placeholder={'EUR 50.00\nJPY 8000'}
          error={faults.minimumAmounts}
          {...field('minimumAmounts')}
        />
      </Stack>
    </details>
  )
}

type QuietHours = NonNullable<Draft['quietHours']>

interface QuietProps {
  value: QuietHours | null
  onChange: (value: QuietHours | null) => void
}

/** The hours in which nothing is sent. */
function QuietHoursFields({ value, onChange }: QuietProps) {
  return (
    <Stack gap={12}>
      <Switch
        size="sm"
        label="Quiet hours"
        description="Alerts wait, and arrive as one digest at the end. Keep one channel without quiet hours"
        checked={value !== null}
        onChange={event => onChange(event.currentTarget.checked ? defaultHours() : null)}
      />
      {value !== null && (
        <>
          <Group grow gap={12}>
            <TextInput
              label="From"
              type="time"
              value={value.from}
              onChange={event => onChange({ ...value, from: event.currentTarget.value })}
            />
            <TextInput
              label="To"
              type="time"
              value={value.to}
              onChange={event => onChange({ ...value, to: event.currentTarget.value })}
            />
          </Group>
          <TimeZoneSelect
            label="Time zone"
            value={value.time_zone}
            onChange={time_zone => onChange({ ...value, time_zone })}
          />
          <Checkbox.Group
            label="They begin on"
            value={value.days ?? DAYS.map(day => day.value)}
            onChange={days => onChange({ ...value, days: days as QuietHours['days'] & string[] })}
          >
            <Group gap="8px 12px" pt={6}>
              {DAYS.map(day => (
                <Checkbox key={day.value} size="xs" value={day.value} label={day.label} />
              ))}
            </Group>
          </Checkbox.Group>
        </>
      )}
    </Stack>
  )
}

function defaultHours(): QuietHours {
  return { time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone, from: '22:00', to: '07:00', days: null }
}
