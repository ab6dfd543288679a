/** The filters of lists, which are in the URL. */
export { FilterBar, optionsOf, SearchChoiceFilter } from './filter-bar.tsx'
export {
  actor,
  amounts,
  choice,
  connection,
  day,
  defineFilters,
  param,
  period,
  resourceChoice,
  searchChoice,
  text,
  useListFilters,
} from './filters.tsx'
export { monthBounds, monthOf, nameMonth, startOfDay } from './period.ts'
export { useFilters } from './use-filters.ts'
