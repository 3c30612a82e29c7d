import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { PiniaColada } from '@pinia/colada';
import { createPinia } from 'pinia';
import { createApp } from 'vue';
import App from './App.vue';
import { i18n } from './i18n/i18n.ts';
import { router } from './router.ts';

createApp(App)
  .use(createPinia())
  // What the server tells of its changes keeps everything fresh: nothing is asked for again just because time passes.
  .use(PiniaColada, { queryOptions: { staleTime: Infinity, refetchOnWindowFocus: false } })
  .use(i18n)
  .use(router)
  .mount('#app');
